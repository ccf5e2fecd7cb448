"""Bad config: one line with file, field and what is allowed; exit code 2; nothing written."""

from typing import Any

import pytest

from tests.loopback import Done
from tests.wire.lab import Lab


def refused(lab: Lab, *arguments: str) -> Done:
    """Run a pair that must be refused before anything happens."""
    before = sorted(path.name for path in lab.folder.iterdir())
    done = lab.run_pair(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("revereval: ")
    assert done.err.count("\n") == 1
    assert sorted(path.name for path in lab.folder.iterdir()) == before
    assert lab.server.hits == []
    return done


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"nonsense": 1}, "nonsense", "permitted"),
    ({"companion": "sometimes"}, "companion", "must be one of always, after_answer"),
    ({"endpoint": "both"}, "endpoint", "must be one of request, joint"),
    ({"contract": "loose"}, "contract", "must be one of extracted, strict"),
    ({"seed": ""}, "seed", "at least 1 character"),
    ({"seed": 7}, "seed", "valid string"),
    ({"fitting_tasks": "tiny-sum"}, "fitting_tasks", "valid list"),
    ({"provider": "openai-chat"}, "provider", "ProviderSettings"),
    ({"provider": {"nonsense": 1}}, "provider.nonsense", "permitted"),
    ({"provider": {"kind": "openai"}}, "provider.kind", "'openai-chat', 'openai-responses'"),
    ({"provider": {"wire": "chat"}}, "provider", "wire is fixed by kind"),
    ({"provider": {"model": ""}}, "provider.model", "at least 1 character"),
    ({"provider": {"base_url": "127.0.0.1:8000/v1"}}, "provider.base_url", "http or https URL"),
    ({"provider": {"base_url": "ftp://127.0.0.1/v1"}}, "provider.base_url", "http or https URL"),
    ({"provider": {"base_url": "http://"}}, "provider.base_url", "http or https URL"),
    ({"provider": {"base_url": "http://[::1/v1"}}, "provider.base_url", ""),
    ({"provider": {"base_url": "http://127.0.0.1:99999/v1"}}, "provider.base_url", ""),
    ({"provider": {"base_url": "http://127.0.0.1:port/v1"}}, "provider.base_url", ""),
    ({"provider": {"base_url": "http://127.0.0.1/a\nb"}}, "provider.base_url", ""),
    ({"provider": {"base_url": "http://exa mple/v1"}}, "provider.base_url", ""),
    ({"provider": {"api_key_env": 7}}, "provider.api_key_env", "valid string"),
    ({"provider": {"sampling": {"messages": []}}}, "provider.sampling", "cannot be set here"),
    ({"provider": {"sampling": {"stream": True}}}, "provider.sampling", "cannot be set here"),
    ({"provider": {"echo_unknown": "yes"}}, "provider.echo_unknown", "valid boolean"),
    (
        {"provider": {"usage_convention": "x"}},
        "provider.usage_convention",
        "'cached_in_input' or 'cached_apart'",
    ),
    ({"provider": {"read_timeout_s": 0.0}}, "provider.read_timeout_s", "greater than 0"),
    ({"provider": {"connect_timeout_s": -1.0}}, "provider.connect_timeout_s", "greater than 0"),
    ({"provider": {"max_reply_bytes": 10}}, "provider.max_reply_bytes", "1024"),
    ({"provider": {"retry": {"attempts": 0}}}, "provider.retry.attempts", "equal to 1"),
    ({"provider": {"retry": {"attempts": 21}}}, "provider.retry.attempts", "equal to 20"),
    ({"provider": {"retry": {"attempts": "3"}}}, "provider.retry.attempts", "valid integer"),
    ({"provider": {"retry": {"max_wait_s": -1.0}}}, "provider.retry.max_wait_s", "equal to 0"),
    ({"limits": {"suffix_requests": 0}}, "limits.suffix_requests", "equal to 1"),
    ({"limits": {"prefix_requests": 1.5}}, "limits.prefix_requests", "valid integer"),
    ({"limits": {"metered_tokens": 0}}, "limits.metered_tokens", "equal to 1"),
    ({"projection": {"keep_recent": -1}}, "projection.keep_recent", "equal to 0"),
    ({"projection": {"full_exposures": 0}}, "projection.full_exposures", "equal to 1"),
    ({"projection": {"min_bytes": 1}}, "projection.min_bytes", "permitted"),
]


@pytest.mark.parametrize(("tables", "field", "allowed"), BAD, ids=[str(row[0]) for row in BAD])
def test_a_bad_value_is_named_with_its_file_and_what_is_allowed(
    lab: Lab, tables: dict[str, Any], field: str, allowed: str
) -> None:
    lab.configure(**tables)
    done = refused(lab)
    assert done.err.startswith(f"revereval: {lab.config}: {field}: ")
    assert allowed in done.err


@pytest.mark.parametrize(
    ("toml", "field"),
    [
        ("[provider.retry]\nmax_wait_s = inf", "provider.retry.max_wait_s"),
        ("[provider.retry]\nfirst_wait_s = nan", "provider.retry.first_wait_s"),
        ("[provider]\nread_timeout_s = inf", "provider.read_timeout_s"),
        ("[provider]\nconnect_timeout_s = nan", "provider.connect_timeout_s"),
        ("[provider.sampling]\ntemperature = nan", "provider.sampling"),
        ("[provider.sampling]\ntemperature = inf", "provider.sampling"),
        ("[provider.sampling]\nwhen = 1979-05-27", "provider.sampling"),
        ("[provider.sampling.deep]\nlist = [07:32:00]", "provider.sampling"),
    ],
)
def test_a_value_that_json_has_no_word_for_is_refused(lab: Lab, toml: str, field: str) -> None:
    lab.config.write_text(toml + "\n")
    assert refused(lab).err.startswith(f"revereval: {lab.config}: {field}")


def test_a_config_that_is_no_toml_is_refused(lab: Lab) -> None:
    lab.config.write_text("[provider\n")
    assert refused(lab).err.startswith(f"revereval: {lab.config}: not TOML: ")
    lab.config.write_bytes(b"seed = '\xff'\n")
    assert refused(lab).err == f"revereval: {lab.config}: not UTF-8\n"
    lab.config.write_text('seed = "a"\nseed = "b"\n')
    assert refused(lab).err.startswith(f"revereval: {lab.config}: not TOML: ")


def test_a_config_that_cannot_be_read_is_refused(lab: Lab) -> None:
    lab.config.unlink()
    assert refused(lab).err == f"revereval: {lab.config}: no such file\n"
    lab.config.mkdir()
    assert refused(lab).err == f"revereval: {lab.config}: Is a directory\n"


def test_a_config_text_that_a_terminal_would_act_on_is_shown_escaped(lab: Lab) -> None:
    lab.configure(provider={"kind": "\x1b[2J[red]\n"})
    assert not {"\x1b"} & set(refused(lab).err)
    lab.config.write_text('"\\u001b[2J\\n" = 1\n')
    assert "\\x1b[2J\\n: " in refused(lab).err


def test_an_unknown_task_is_refused(lab: Lab) -> None:
    done = lab.command("capture", "tiny-sun", "--config", str(lab.config))
    assert done.code == 2
    assert "tiny-sun: no such task; close: tiny-sum" in done.err
    assert not lab.ledger.exists()


def test_a_run_takes_its_config_from_its_plan_alone(lab: Lab) -> None:
    lab.serve(lab.right)
    assert lab.capture().code == 0
    done = lab.command("run-pair", "1", "--config", str(lab.config))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "a run has its plan" in done.err
