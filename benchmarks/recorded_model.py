"""A chat model made of recordings: an OpenAI-compatible endpoint that replays, and asks a mailbox for the rest.

    python -m benchmarks.recorded_model --recordings kept.jsonl --mailbox out/mailbox

With it a person, or any model that reads and writes files, plays the chat model from the prompts alone: what no
recording answers is laid into the mailbox (its README says how it is answered), and the answer is kept. Stopped and
begun again, it goes on where it was. Without a mailbox it needs nobody: what was never recorded is refused.

A request is known again by what it asks, not by its text (``benchmarks.recordings``). With a mailbox everything asked
must be the same; without one, steps and numbers in it may have changed since, and the nearest recording answers.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from benchmarks.mailbox import Mailbox
from benchmarks.recordings import RecordedQuestion, RecordedRequest, Recordings, Reply
from snellen.errors import BadInput, SnellenError

NAME: Final = "recorded"
"""The model's name at the endpoint."""
PATIENCE: Final = 86_400
"""Seconds that a profile must wait for one reply, as somebody may write it by hand."""
_MOST: Final = 10_000_000
"""Bytes of a request."""
_ROUTE: Final = "/v1/chat/completions"

PROFILE: Final = """\
extends = "embedded"
[reasoner]
kind = "chat"
model = "{model}"
base_url = "{base_url}"
timeout = {patience}
max_retries = 2
[limits]
seconds = {patience}      # a program may wait for LIST, which the chat model answers
"""


class UnansweredError(SnellenError):
    """No recording answers a request, and there is no mailbox."""


class RecordedModel:
    """A chat model whose replies are recordings, or come from a mailbox and become recordings.

    Attributes:
        replayed: How many replies came from recordings.
        changed: How many of those were given to another prompt: rules or examples have changed since.
        recorded: How many came from the mailbox.
        unanswered: How many requests no recording answered, where there is no mailbox.
    """

    def __init__(self, recordings: Recordings, mailbox: Mailbox | None = None) -> None:
        self.replayed = self.changed = self.recorded = self.unanswered = 0
        self._recordings = recordings
        self._mailbox = mailbox
        self._keeping = threading.Lock()

    def reply(self, request: RecordedRequest) -> Reply:
        """Reply to a request, which may take as long as somebody needs to write the reply.

        Raises:
            UnansweredError: No recording answers it, and there is no mailbox.
            MailboxClosedError: The mailbox was closed before it was answered.
        """
        question = RecordedQuestion.of(request)
        kept = self._recordings.find(question, whole=self._mailbox is not None)
        if kept is not None:
            with self._keeping:
                self.replayed += 1
                self.changed += kept.prompt != request.digest
            return kept.reply
        if self._mailbox is None:
            with self._keeping:
                self.unanswered += 1
            msg = (
                f"No recording in {self._recordings.path.name} answers {question}: add --mailbox FOLDER and answer it."
            )
            raise UnansweredError(msg)
        reply = self._mailbox.ask(request)
        with self._keeping:
            self.recorded += 1
            self._recordings.add(request, reply)
        return reply

    def counts(self) -> dict[str, int]:
        """Return how many replies were given, by where they came from, and how many were not."""
        return {name: getattr(self, name) for name in ("replayed", "changed", "recorded", "unanswered")}

    def close(self) -> None:
        """Let everybody who waits for a reply go."""
        if self._mailbox is not None:
            self._mailbox.close()


def read_request(body: bytes) -> RecordedRequest:
    """Read the body of a call.

    Raises:
        BadInput: It is no request for one JSON object by schema.
    """
    try:
        data = json.loads(body)
        described = data["response_format"]["json_schema"]
        messages = [{"role": str(one["role"]), "content": _text(one["content"])} for one in data["messages"]]
        return RecordedRequest(str(described["name"]), dict(described["schema"]), messages)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        msg = f"Ask for one JSON object by response_format, with a json_schema ({type(error).__name__}: {error})."
        raise BadInput(msg) from error


def _text(content: Any) -> str:  # noqa: ANN401 - a text, or a list of its pieces
    return content if isinstance(content, str) else "".join(str(piece["text"]) for piece in content)


@contextmanager
def serving(model: RecordedModel, *, port: int = 0) -> Iterator[str]:
    """Serve a model on loopback until the block ends.

    Args:
        model: Whose replies are sent.
        port: Where; 0 lets the system choose.

    Yields:
        The endpoint's address, for ``base_url``.

    Raises:
        BadInput: The port is taken.
    """
    try:
        server = _Server(model, port)
    except OSError as error:
        msg = f"Port {port} cannot be used ({error.strerror}): name another one with --port, or leave it out."
        raise BadInput(msg) from error
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        model.close()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # all tasks of a benchmark call at once; five is what http.server has

    def __init__(self, model: RecordedModel, port: int) -> None:
        self.model = model
        super().__init__(("127.0.0.1", port), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        """Answer a call."""
        length = self.headers.get("Content-Length", "")
        if self.path != _ROUTE or not length.isdigit() or int(length) > _MOST:
            self._refuse(404, f"POST a chat completion to {_ROUTE}, at most {_MOST} bytes.")
            return
        try:
            reply = self.server.model.reply(read_request(self.rfile.read(int(length))))
        except BadInput as error:
            self._refuse(400, str(error))
        except SnellenError as error:
            self._refuse(404, str(error))
        else:
            self._send(200, _completion(reply))

    def do_GET(self) -> None:
        """Name the model."""
        self._send(200, {"object": "list", "data": [{"id": NAME, "object": "model"}]})

    def _refuse(self, status: int, message: str) -> None:
        self._send(status, {"error": {"message": message, "type": "recorded_model", "code": None}})

    def _send(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content, ensure_ascii=False).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:  # the client has given up waiting; the reply is kept for its next try
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep quiet: the mailbox tells what happens."""


def _completion(reply: Reply) -> dict[str, Any]:
    message = {"role": "assistant", "content": json.dumps(reply, ensure_ascii=False), "refusal": None}
    return {
        "id": NAME,
        "object": "chat.completion",
        "created": 0,
        "model": NAME,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
    }


def profile_of(base_url: str) -> str:
    """Return a profile whose Reasoner is the endpoint, and whose sight is the embedded models'."""
    return PROFILE.format(model=NAME, base_url=base_url, patience=PATIENCE)


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--port", type=int, default=8100, help="on 127.0.0.1 (%(default)s; 0 lets the system choose)")
    options = parser.parse_args()
    try:
        model = model_of(options)
        with suppress(KeyboardInterrupt), serving(model, port=options.port) as base_url:
            tell(f"A profile for it, to be saved as recorded.toml:\n\n{profile_of(base_url)}\nCtrl-C ends it.")
            threading.Event().wait()
    except SnellenError as error:
        raise SystemExit(str(error)) from None
    tell(f"\nreplies: {model.counts()}")


def add_options(parser: argparse.ArgumentParser, *, recordings: Path | None = None) -> None:
    """Add the options that name recordings, of which a default may be given, and mailbox."""
    parser.add_argument(
        "--recordings",
        type=Path,
        required=recordings is None,
        default=recordings,
        metavar="FILE",
        help="replies to replay; those of a mailbox are added",
    )
    parser.add_argument("--mailbox", type=Path, metavar="FOLDER", help="where what was never recorded is answered")


def model_of(options: argparse.Namespace) -> RecordedModel:
    """Make the model that the options name.

    Raises:
        BadInput: The recordings cannot be read, or there are none and no mailbox.
    """
    recordings = Recordings(options.recordings)
    if not len(recordings) and options.mailbox is None:
        msg = f"There are no recordings in {options.recordings}: name other ones, or a --mailbox to be answered."
        raise BadInput(msg)
    return RecordedModel(recordings, None if options.mailbox is None else Mailbox(options.mailbox, tell=tell))


def tell(line: str) -> None:
    """Show progress, apart from what a command prints as its result."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
