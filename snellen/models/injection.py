"""Soft prompts enter a model by hooks, for one call, and nothing of the model is copied or changed.

A hook acts only in the thread that set it, so that a model may be tuned in one thread while others ask it. Without a
prompt no hook is set, and the output is bit for bit the original one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def prompted_class_tokens(
    vision_model: Any,  # noqa: ANN401 - transformers is untyped
    patches: torch.Tensor,
    prompts: torch.Tensor,
) -> torch.Tensor:
    """Class tokens of a CLIP vision encoder with deep prompts (CLOVA section 8.4; VPT-deep, Jia et al. 2022).

    Prompts stand beside the patches. Those of the first layer are inserted; those of each further layer replace what
    the layer before made of its own; after the last they go on as ordinary tokens. It is what `deep_prompts` gives,
    without what nobody reads: places that the next layer replaces, and in the last layer all but the class token, are
    only looked up. What a layer makes of the prompts that enter it is the same for all pictures, and computed once.

    Args:
        vision_model: A ``CLIPVisionModel``.
        patches: ``(instances, pictures, 1 + patches, width)``, what the encoder's first layer is given.
        prompts: ``(instances, layers, vectors, width)``, one for all pictures of an instance.

    Returns:
        ``(instances, pictures, width)``, as the encoder's last hidden state has them.
    """
    import torch

    instances, pictures = patches.shape[:2]
    last = len(vision_model.encoder.layers) - 1

    def spread(entering: torch.Tensor) -> torch.Tensor:
        return entering[:, None].expand(-1, pictures, -1, -1).flatten(0, 1)

    hidden = patches.flatten(0, 1)
    for depth, layer in enumerate(vision_model.encoder.layers):
        attention, given = layer.self_attn, layer.layer_norm1(hidden)
        keys, values = attention.k_proj(given), attention.v_proj(given)
        if depth == last:
            hidden, given = hidden[:, :1], given[:, :1]
        queries = attention.q_proj(given)
        if depth < prompts.shape[1]:
            own = prompts[:, depth].to(hidden.dtype)
            entering = layer.layer_norm1(own)
            keys = torch.cat([keys, spread(attention.k_proj(entering))], dim=1)
            values = torch.cat([values, spread(attention.v_proj(entering))], dim=1)
            if depth == prompts.shape[1] - 1 and depth < last:
                queries = torch.cat([queries, spread(attention.q_proj(entering))], dim=1)
                hidden = torch.cat([hidden, spread(own)], dim=1)
        mixed = _mixed(queries, keys, values, width=attention.head_dim, scale=attention.scale)
        hidden = hidden + attention.out_proj(mixed)
        hidden = hidden + layer.mlp(layer.layer_norm2(hidden))
    return hidden[:, 0].unflatten(0, (instances, pictures))


@contextmanager
def deep_prompts(vision_model: Any, prompts: torch.Tensor) -> Iterator[None]:  # noqa: ANN401
    """Deep prompts in the first layers of a CLIP vision encoder, by hooks: the plain way, all of the model every time.

    They stand between the class token and the patches. The encoder's output has none of them, so that its shape stays.

    Args:
        vision_model: A ``CLIPVisionModel``.
        prompts: ``(batch, layers, vectors, width)``, one for each picture of the batch.
    """
    import torch

    layers, vectors = prompts.shape[1:3]
    encoder = vision_model.encoder

    def enter(depth: int) -> Callable[[Arguments], Arguments]:
        def change(arguments: Arguments) -> Arguments:
            (hidden, *others), named = arguments
            rest = hidden[:, 1:] if depth == 0 else hidden[:, 1 + vectors :]
            hidden = torch.cat([hidden[:, :1], prompts[:, depth].to(hidden.dtype), rest], dim=1)
            return (hidden, *others), named

        return change

    def leave(output: Any) -> Any:  # noqa: ANN401 - a ModelOutput of transformers
        hidden = output.last_hidden_state
        output.last_hidden_state = torch.cat([hidden[:, :1], hidden[:, 1 + vectors :]], dim=1)
        return output

    with ExitStack() as hooks:
        for depth in range(layers):
            hooks.enter_context(_before(encoder.layers[depth], enter(depth)))
        hooks.enter_context(_after(encoder, leave))
        yield


@contextmanager
def query_prompts(text_model: Any, prompts: torch.Tensor) -> Iterator[None]:  # noqa: ANN401
    """Soft tokens before the words of the queries of OWL-ViT's text encoder (CLOVA section 8.2).

    They follow the embeddings, have no position of their own, and every word sees them: the causal mask grows by as
    many places. The output has none of them, so that the end of a text is found where it was.

    Args:
        text_model: An ``OwlViTTextTransformer``, called with its attention mask by name.
        prompts: ``(batch, vectors, width)``, one for each query of the batch.
    """
    import torch

    vectors = prompts.shape[1]

    def widen(arguments: Arguments) -> Arguments:
        positional, named = arguments
        mask = named.get("attention_mask")
        if mask is not None:
            named = {**named, "attention_mask": torch.cat([mask.new_ones(len(mask), vectors), mask], dim=1)}
        return positional, named

    with (
        _before(text_model, widen),
        _after(text_model.embeddings, lambda words: torch.cat([prompts.to(words.dtype), words], dim=1)),
        _after(text_model.final_layer_norm, lambda hidden: hidden[:, vectors:]),
    ):
        yield


@contextmanager
def answer_prompts(text_decoder: Any, prompts: torch.Tensor) -> Iterator[None]:  # noqa: ANN401
    """Vectors beside the encoded question, for BLIP's answer decoder to attend to (CLOVA section 8.1).

    Args:
        text_decoder: A ``BlipTextLMHeadModel``; its ``forward`` and its greedy ``generate`` both pass here.
        prompts: ``(batch, vectors, width)``, one for each question of the batch.
    """
    import torch

    def join(arguments: Arguments) -> Arguments:
        positional, named = arguments
        question, mask = named["encoder_hidden_states"], named.get("encoder_attention_mask")
        changed: Mapping[str, Any] = {"encoder_hidden_states": torch.cat([question, prompts.to(question.dtype)], dim=1)}
        if mask is not None:
            seen = mask.new_ones(len(mask), prompts.shape[1])
            changed = {**changed, "encoder_attention_mask": torch.cat([mask, seen], dim=1)}
        return positional, {**named, **changed}

    with _before(text_decoder.bert, join):
        yield


@contextmanager
def word_vectors(text_encoder: Any, added: torch.Tensor) -> Iterator[None]:  # noqa: ANN401
    """Vectors on top of the embeddings of words in a text encoder (CLOVA section 8.5; Gal et al. 2023).

    Args:
        text_encoder: A ``CLIPTextModel``, called with as many texts of the same length.
        added: ``(batch, length, width)``; zeros leave a word as it is.
    """
    with _after(text_encoder.get_input_embeddings(), lambda words: words + added.to(words.dtype)):
        yield


@contextmanager
def question_padding(text_decoder: Any, hidden: torch.Tensor) -> Iterator[None]:  # noqa: ANN401
    """Hide the padding of questions from BLIP's answer decoder, which ignores the mask that it is given.

    Args:
        text_decoder: A ``BlipTextLMHeadModel``.
        hidden: ``(batch, words)``, True on padding; what follows the words (prompts) is seen.
    """
    import torch

    def mask(arguments: Arguments) -> Arguments:
        positional, named = arguments
        places = named["encoder_hidden_states"].shape[1]
        added = torch.zeros(len(hidden), 1, 1, places, device=hidden.device)
        added[:, 0, 0, : hidden.shape[1]].masked_fill_(hidden, -1e4)
        return positional, {**named, "encoder_attention_mask": added}

    with ExitStack() as hooks:
        for layer in text_decoder.bert.encoder.layer:
            hooks.enter_context(_before(layer.crossattention.self, mask))
        yield


@dataclass(frozen=True, eq=False)
class CapturedAttention:
    """Record of what the attentions of a MaskFormer's decoder looked up while the model's own queries passed.

    Attributes:
        query_keys: ``(pictures, layers, queries, width)`` of the model's own queries.
        query_values: The same.
        cell_keys: ``(pictures, layers, cells, width)`` of the backbone's last map.
        cell_values: The same.
    """

    query_keys: torch.Tensor
    query_values: torch.Tensor
    cell_keys: torch.Tensor
    cell_values: torch.Tensor

    def take(self, rows: Sequence[int]) -> CapturedAttention:
        """Some of the pictures, in the order of ``rows``, which may repeat."""
        return CapturedAttention(*(getattr(self, each.name)[list(rows)] for each in fields(self)))

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return sum(getattr(self, each.name).nbytes for each in fields(self))


class _Listener:
    """Gathers what projections give, layer after layer."""

    def __init__(self) -> None:
        self.outputs: dict[str, list[torch.Tensor]] = {each.name: [] for each in fields(CapturedAttention)}

    def to(self, name: str) -> Callable[[Any], Any]:
        def listen(output: Any) -> Any:  # noqa: ANN401 - a tensor, handed on as it is
            self.outputs[name].append(output)
            return output

        return listen

    def collected(self) -> CapturedAttention:
        import torch

        return CapturedAttention(**{name: torch.stack(outputs, dim=1) for name, outputs in self.outputs.items()})


@contextmanager
def overhearing(decoder: Any) -> Iterator[_Listener]:  # noqa: ANN401
    """Listen to one pass of a MaskFormer's own queries through its decoder, without changing anything.

    Args:
        decoder: A ``MaskFormerDetrDecoder``.
    """
    listener = _Listener()
    with ExitStack() as hooks:
        for layer in decoder.layers:
            hooks.enter_context(_after(layer.self_attn.k_proj, listener.to("query_keys")))
            hooks.enter_context(_after(layer.self_attn.v_proj, listener.to("query_values")))
            hooks.enter_context(_after(layer.encoder_attn.k_proj, listener.to("cell_keys")))
            hooks.enter_context(_after(layer.encoder_attn.v_proj, listener.to("cell_values")))
        yield listener


def extra_queries(
    decoder: Any,  # noqa: ANN401
    prompts: torch.Tensor,
    heard: CapturedAttention,
    hidden: torch.Tensor | None = None,
) -> torch.Tensor:
    """Further object queries in a MaskFormer's decoder (CLOVA section 8.3).

    They attend to the model's own queries, to one another and to the picture, as if all had been concatenated; the
    model's own queries do not attend to them. CLOVA lets both attend to both; then every segment would change a little
    with everything that is learned. This way what the model's own queries give is what they give without prompts, bit
    for bit, because their pass is the original one; and what they and the picture offer to be looked up has been
    computed in that pass, so that a step of tuning runs nothing but the prompts.

    Args:
        decoder: A ``MaskFormerDetrDecoder``.
        prompts: ``(pictures, vectors, width)``.
        heard: What was overheard of the model's own pass for these pictures.
        hidden: ``(pictures, cells)``, True on padding; None where there is none.

    Returns:
        ``(pictures, vectors, width)``, as the decoder's last hidden state.
    """
    import torch

    state = torch.zeros_like(prompts, dtype=heard.query_keys.dtype)
    places = prompts.to(state.dtype)
    seen = None if hidden is None else ~hidden[:, None, None]
    for depth, layer in enumerate(decoder.layers):
        own = layer.self_attn
        keys, values = own.k_proj(state + places), own.v_proj(state)
        keys = torch.cat([heard.query_keys[:, depth].to(keys.dtype), keys], dim=1)
        values = torch.cat([heard.query_values[:, depth].to(values.dtype), values], dim=1)
        state = layer.self_attn_layer_norm(state + _attended(own, state + places, keys, values))
        keys, values = heard.cell_keys[:, depth], heard.cell_values[:, depth]
        cells = _attended(layer.encoder_attn, state + places, keys, values, seen)
        state = layer.encoder_attn_layer_norm(state + cells)
        state = layer.final_layer_norm(state + layer.mlp(state))
        if decoder.config.auxiliary_loss:  # the class then normalises after every layer
            state = decoder.layernorm(state)
    normalised: torch.Tensor = decoder.layernorm(state)
    return normalised


def _attended(
    attention: Any,  # noqa: ANN401
    asking: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    seen: torch.Tensor | None = None,
) -> torch.Tensor:
    """One attention of a MaskFormer's decoder, with keys and values that are projected already."""
    queries: torch.Tensor = attention.q_proj(asking)
    mixed = _mixed(queries, keys, values, seen, width=attention.head_dim, scale=attention.scaling)
    attended: torch.Tensor = attention.o_proj(mixed)
    return attended


def _mixed(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    seen: torch.Tensor | None = None,
    *,
    width: int,
    scale: float,
) -> torch.Tensor:
    """Values as queries mix them, ``(n, queries, heads * width)``; all heads of a token lie side by side."""
    from torch.nn import functional

    def heads(projected: torch.Tensor) -> torch.Tensor:
        return projected.to(queries.dtype).unflatten(-1, (-1, width)).transpose(1, 2)

    mixed = functional.scaled_dot_product_attention(
        heads(queries), heads(keys), heads(values), attn_mask=seen, scale=scale
    )
    return mixed.transpose(1, 2).flatten(2)


@contextmanager
def _before(module: torch.nn.Module, change: Callable[[Arguments], Arguments]) -> Iterator[None]:
    """Change the arguments of a module's calls in this thread."""
    thread = threading.get_ident()

    def hook(_: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments | None:
        return change((args, kwargs)) if threading.get_ident() == thread else None

    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def _after(module: torch.nn.Module, change: Callable[[Any], Any]) -> Iterator[None]:
    """Change the output of a module's calls in this thread."""
    thread = threading.get_ident()

    def hook(_: torch.nn.Module, __: tuple[Any, ...], output: Any) -> Any:  # noqa: ANN401 - whatever the module returns
        return change(output) if threading.get_ident() == thread else None

    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()
