"""The columns of `ledger export`, table by table: the one place that names and explains them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

ColumnType = Literal["text", "integer", "number", "boolean"]


@dataclass(frozen=True)
class Column:
    """One column; every column can be NULL, which is unknown or does not apply, never zero."""

    name: str
    type: ColumnType
    doc: str


@dataclass(frozen=True)
class ExportTable:
    doc: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


def _text(name: str, doc: str) -> Column:
    return Column(name, "text", doc)


def _integer(name: str, doc: str) -> Column:
    return Column(name, "integer", doc)


def _boolean(name: str, doc: str) -> Column:
    return Column(name, "boolean", doc)


def _arms(name: str, kind: ColumnType, doc: str) -> tuple[Column, Column]:
    """The same column of F and of P."""
    return Column(f"f_{name}", kind, f"F: {doc}"), Column(f"p_{name}", kind, f"P: {doc}")


def _usage(name: str, what: str) -> tuple[Column, ...]:
    """The tokens of completed requests, each total beside what it cannot hold."""
    unknown = "NULL when a request does not report it"
    return (
        _integer(f"{name}_input_tokens", f"Input tokens of {what}, cached included; {unknown}."),
        _integer(f"{name}_uncached_tokens", f"U of {what}; {unknown}."),
        _integer(f"{name}_cached_tokens", f"C of {what}; {unknown}."),
        _integer(f"{name}_output_tokens", f"O of {what}, reasoning included; {unknown}."),
        _integer(f"{name}_unknown_usage", f"Requests of {what} with unknown input or output."),
        _integer(f"{name}_unknown_cache", f"Requests of {what} with unknown U or C."),
        _integer(f"{name}_flagged_usage", f"Requests of {what} whose usage contradicts itself."),
        _integer(
            f"{name}_excess_totals",
            f"Those of {what} whose total is more than input and output together.",
        ),
        _integer(
            f"{name}_uncounted_attempts",
            f"Dispatches of {what} that may have been billed and are in no total: ambiguous, "
            "in doubt, or without a reply yet.",
        ),
    )


_RUN = _integer("run_id", "The run.")
_PLAN_FACTS = (
    _text("plan_digest", "SHA-256 of the plan's canonical JSON."),
    _text(
        "treatment",
        "SHA-256 of what the plan fixes apart from the task; another harness may use names of its "
        "own. A frame holds one treatment.",
    ),
    _text("task_digest", "SHA-256 of the task without its gold."),
    _text("snapshot_digest", "SHA-256 that pins the source snapshot."),
    _text("gold_digest", "SHA-256 of the gold's canonical JSON."),
    _text("provider", "Provider kind; `scripted` is the embedded reader, its usage an estimate."),
    _text("model", "Model asked for."),
    _text("seed", "Seed of the allocation rule."),
    _text("companion", "`always` or `after_answer`: when the second arm runs."),
    _text("endpoint_definition", "`request` or `joint`: whether a budget stop is a failure."),
    _text("contract", "Primary scoring contract, `extracted` or `strict`."),
)
_TASK = _text("task_id", "The task.")
_GROUP = _text("source_group", "The upstream project that the task's source comes from.")
_REPEAT = _integer("repeat", "Which pair of continuations of its tape, from 1.")
_TAPE = _integer(
    "tape_run_id",
    "The run that captured the tape of a repeat, and alone has its capture's requests; NULL where "
    "it is this run.",
)
_SPLIT = _text(
    "split", "What the source group may be used for: development, calibration or confirmation."
)
_ENDPOINT = "endpoint under the plan's primary contract"
_OF_ANSWER = "the object that the primary contract judges"
_KEY_SCORES = (
    f"JSON object: `right`, `wrong` or `missing` for each key of the gold, in {_OF_ANSWER}; "
    "NULL without an answer."
)

BOUNDARIES: Final = ExportTable(
    "One row a run whose capture reached the boundary, both arms side by side.",
    (
        _text("flow", "`paired`: both arms are planned."),
        _TASK,
        _GROUP,
        _text("first_arm", "The arm that goes first, F or P."),
        _integer("history_bytes", "UTF-8 bytes of the boundary request's messages as JSON."),
        *_arms("endpoint", "text", f"{_ENDPOINT}."),
        *_arms("endpoint_strict", "text", "endpoint under the strict contract."),
        *_arms(
            "suffix_tokens",
            "integer",
            "input plus output tokens of the suffix requests; "
            "NULL when the arm is unexecuted or one of them is unknown.",
        ),
        _integer(
            "prefix_tokens", "Input plus output tokens of the tape; NULL when one is unknown."
        ),
        *_arms("suffix_requests", "integer", "suffix requests completed."),
        _boolean("fitting", "The task is one of those that the projection rule was fitted on."),
        _SPLIT,
        _RUN,
        _REPEAT,
        _TAPE,
        _text("created_at", "When the run was created."),
        *_PLAN_FACTS,
        _text(
            "treatment_settings",
            "What `treatment` is the digest of, as canonical JSON: by it a table alone says in "
            "what two treatments differ.",
        ),
        _text("tape_head", "Digest of the hash chain's last entry."),
        _text("seal", "Digest over tape, boundary request and plan."),
        _text("boundary_request_digest", "SHA-256 of the prepared boundary request."),
        _integer("eligible_bytes", "UTF-8 bytes of the observations eligible at the boundary."),
        _integer("eligible_count", "Observations eligible at the boundary."),
        _integer("prefix_requests", "Exchanges on the tape."),
        Column(
            "last_cached_fraction", "number", "Cached over total input of the tape's last reply."
        ),
        _integer("prefix_archive_calls", "Successful archive calls on the tape."),
        _integer("prefix_metered_tokens", "Metered input of the tape, 4 bytes a token."),
        *_usage("prefix", "the tape"),
        _boolean("first_requests_match", "First suffix requests equal but for tool-result text."),
        *_arms(
            "first_request_digest",
            "text",
            "SHA-256 of the first suffix request with tool-result text blanked.",
        ),
        *_arms("reason", "text", "why it stopped or was not run."),
        *_arms("endpoint_extracted", "text", "endpoint under the extracted contract."),
        *_arms("extracted", "boolean", "the extracted contract accepts the answer."),
        *_arms("strict", "boolean", "the strict contract accepts the answer."),
        *_arms("keys_right", "integer", f"keys of {_OF_ANSWER} that are right."),
        *_arms("keys_wrong", "integer", f"keys of {_OF_ANSWER} that are wrong."),
        *_arms("keys_missing", "integer", f"keys of the gold that {_OF_ANSWER} lacks."),
        _text(
            "closed_book",
            "Endpoint of the newest run of the same task, provider and model without tools: "
            "correct, wrong or stopped, under its own contract; NULL without one.",
        ),
        *_arms("allowed_requests", "integer", "K, reserved at the boundary."),
        *_arms("allowed_archive_calls", "integer", "archive calls reserved at the boundary."),
        *_arms("allowed_metered_tokens", "integer", "budget; NULL is no limit."),
        *_arms("archive_calls", "integer", "successful archive calls, the tape's left out."),
        *_arms("metered_tokens", "integer", "metered input of the suffix requests."),
        *_arms("largest_metered_prompt", "integer", "largest metered suffix request."),
        *_arms(
            "metered_since_projection",
            "integer",
            "metered input from the last suffix request that projected something new on.",
        ),
        *_usage("f_suffix", "F's suffix"),
        *_usage("p_suffix", "P's suffix"),
    ),
)

ARMS: Final = ExportTable(
    "One row an arm of a boundary run; an arm that was not run is a row too.",
    (
        _integer("arm_id", "The row in the ledger."),
        _RUN,
        _TASK,
        _GROUP,
        _text("plan_digest", "SHA-256 of the plan's canonical JSON."),
        _text("provider", "Provider kind."),
        _text("model", "Model asked for."),
        _text("arm", "F or P."),
        _integer("turn", "1 for the arm that goes first, 2 for its companion."),
        _text("endpoint", f"The {_ENDPOINT}."),
        _text("reason", "Why it stopped or was not run."),
        _text("detail", "The same in words."),
        _text("endpoint_extracted", "The endpoint under the extracted contract."),
        _text("endpoint_strict", "The endpoint under the strict contract."),
        _boolean("extracted", "The extracted contract accepts the answer."),
        _boolean("strict", "The strict contract accepts the answer."),
        _text("extracted_reason", "Why the extracted contract does not."),
        _text("strict_reason", "Why the strict contract does not."),
        _text("key_scores", _KEY_SCORES),
        _integer("allowed_requests", "K, reserved at the boundary."),
        _integer("allowed_archive_calls", "Archive calls reserved at the boundary."),
        _integer("allowed_metered_tokens", "Budget; NULL is no limit."),
        _integer("suffix_requests", "Suffix requests completed."),
        _integer("archive_calls", "Successful archive calls, the tape's left out."),
        _integer("metered_tokens", "Metered input of the suffix requests, 4 bytes a token."),
        _integer("largest_metered_prompt", "Largest metered suffix request."),
        _integer(
            "metered_since_projection",
            "Metered input from the last suffix request that projected something new on.",
        ),
        _integer(
            "suffix_tokens",
            "Input plus output tokens of the suffix requests; NULL when the arm is unexecuted or "
            "one of them is unknown.",
        ),
        *_usage("suffix", "the suffix"),
        _text("started_at", "When the arm started."),
        _text("ended_at", "When it ended."),
        _text("answer", "The final answer, word for word."),
    ),
)

REQUESTS: Final = ExportTable(
    "One row a request of a capture or a continuation, the boundary request included; "
    "replays are not requests.",
    (
        _integer("request_id", "The row in the ledger."),
        _RUN,
        _TASK,
        _GROUP,
        _text("stage", "`capture`, F or P."),
        _integer("position", "In the conversation, counted from 0; a suffix goes on counting."),
        _boolean("boundary", "The boundary: prepared, not dispatched by the capture."),
        _text("digest", "SHA-256 of the bytes sent."),
        _integer("size_bytes", "Their number."),
        _integer("metered_tokens", "Size over 4, rounded up: the meter of every limit."),
        _integer("item_count", "Items of the conversation that it carries."),
        _integer("newly_projected", "Observations projected in this request for the first time."),
        _text("prepared_at", "When it was recorded."),
        _text("completed_at", "When its reply was recorded; NULL without one."),
        _integer("attempts", "Dispatches."),
        _integer("uncounted_attempts", "Dispatches that may have been billed, without a reply."),
        _text("attempt_state", "State of the last dispatch."),
        _integer("status", "HTTP status of the last dispatch's reply."),
        _text("problem", "What went wrong with the last dispatch."),
        _text("entry_digest", "Digest of its entry in the sealed tape's hash chain."),
        _text("reply_digest", "SHA-256 of the raw reply."),
        _integer("reply_bytes", "Bytes of the raw reply."),
        _text("reply_model", "The model that the reply names."),
        _integer("input_tokens", "Total input, cached included."),
        _integer("uncached_tokens", "U."),
        _integer("cached_tokens", "C."),
        _integer("cache_write_tokens", "Part of U, where reported apart."),
        _integer("output_tokens", "O, reasoning included."),
        _integer("reasoning_tokens", "Reasoning tokens."),
        _boolean("usage_estimated", "The reply calls its own usage an estimate."),
        _text("usage_flags", "Contradictions in the reported usage, separated by spaces."),
        _text("usage_raw", "The reply's usage object as JSON."),
        _boolean("possibly_cut", "Its output is as long as was allowed, whatever the reply says."),
    ),
)

OBSERVATIONS: Final = ExportTable(
    "One row a tool result as the agent received it.",
    (
        _integer("observation_id", "The row in the ledger."),
        _RUN,
        _TASK,
        _GROUP,
        _text("stage", "The stage that received it: `capture`, F or P."),
        _integer("position", "Among the conversation's observations, counted from 0."),
        _integer("request_position", "Position of the first request that carries it."),
        _text("tool", "The tool that was called."),
        _text("call_id", "The call's id."),
        _text("arguments", "The call's arguments, as sent back to the model."),
        _text("handle", "SHA-256 of the text."),
        _integer("size_bytes", "UTF-8 bytes of the text."),
        _integer("code_points", "Code points of the text."),
        _text("error", "Why it is an error observation; NULL for a result."),
        _text("archive_outcome", "Outcome of an archive call; NULL for other tools."),
        _integer("archive_remaining", "Successful archive calls left after it."),
        _text("reason", "Last decision of its own stage about it."),
        _integer("reason_from", "Position of the request from which that decision holds."),
        _integer("p_projected_at", "Position of the first request of P that projects it."),
        _integer("p_saved_bytes", "UTF-8 bytes that its projection saves in each request of P."),
    ),
)

PLANS: Final = ExportTable(
    "One row a run, that is one execution of a plan, whatever its capture came to.",
    (
        _RUN,
        _text("created_at", "When the run was created."),
        _TASK,
        _GROUP,
        _text("first_arm", "The arm that goes first, F or P."),
        _boolean("fitting", "The task is one of those that the projection rule was fitted on."),
        _SPLIT,
        _REPEAT,
        _TAPE,
        *_PLAN_FACTS,
        _text("control", "`closed_book`: a run without tools; NULL for a treatment."),
        _text(
            "capture_outcome", "`boundary`, `finished` (before anything was eligible), `stopped`."
        ),
        _text("capture_reason", "Why it stopped; NULL for boundary and finished."),
        _text("capture_detail", "The same in words."),
        _text("capture_ended_at", "When the capture ended."),
        _integer("capture_requests", "Requests of the capture completed."),
        _integer("capture_tokens", "Their input plus output tokens; NULL when one is unknown."),
        *_usage("capture", "the capture"),
        _boolean("answer_extracted", "The extracted contract accepts a finished capture's answer."),
        _boolean("answer_strict", "The strict contract accepts it."),
        _text("answer_key_scores", _KEY_SCORES),
        _text("answer", "A finished capture's answer, word for word."),
        *_arms("endpoint", "text", f"{_ENDPOINT}; NULL without a boundary."),
        *_arms("reason", "text", "why it stopped or was not run."),
        _text("paused", "What the run waits for; NULL where it does not wait."),
        _integer("pauses", "How often one of its own stages has waited."),
    ),
)

PAUSES: Final = ExportTable(
    "One row a pause: a stage that waited, or waits, for what billed nothing and decided nothing.",
    (
        _integer("pause_id", "The row in the ledger."),
        _RUN,
        _TASK,
        _GROUP,
        _text("stage", "The stage that waits: `capture`, F or P."),
        _text("reason", "What it waits for."),
        _text("detail", "The same in words, the server's own among them."),
        _text("paused_at", "When it stopped."),
        _text("ended_at", "When it was taken up again or given up; NULL while it waits."),
    ),
)

TABLES: Final[Mapping[str, ExportTable]] = {
    "boundaries": BOUNDARIES,
    "arms": ARMS,
    "requests": REQUESTS,
    "observations": OBSERVATIONS,
    "plans": PLANS,
    "pauses": PAUSES,
}
