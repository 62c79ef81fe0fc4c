"""Writes a model file with a Llama of one small layer, whose numbers are random and the same each time. Its tokens are single bytes."""

import sys

import gguf
import numpy

WIDTH, HEADS, INNER, WINDOW = 32, 2, 64, 2048

tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL] + [gguf.TokenType.BYTE] * 256

writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_context_length(WINDOW)
writer.add_embedding_length(WIDTH)
writer.add_block_count(1)
writer.add_feed_forward_length(INNER)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(WIDTH // HEADS)
writer.add_vocab_size(len(tokens))
writer.add_tokenizer_model("llama")
writer.add_token_list(tokens)
writer.add_token_scores([0.0] * len(tokens))
writer.add_token_types(kinds)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)

numbers = numpy.random.default_rng(7)


def matrix(name, *shape):
    writer.add_tensor(name, numbers.normal(0, 0.1, shape).astype(numpy.float32))


def ones(name):
    writer.add_tensor(name, numpy.ones(WIDTH, dtype=numpy.float32))


matrix("token_embd.weight", len(tokens), WIDTH)
ones("blk.0.attn_norm.weight")
for part in ["q", "k", "v", "output"]:
    matrix(f"blk.0.attn_{part}.weight", WIDTH, WIDTH)
ones("blk.0.ffn_norm.weight")
matrix("blk.0.ffn_gate.weight", INNER, WIDTH)
matrix("blk.0.ffn_up.weight", INNER, WIDTH)
matrix("blk.0.ffn_down.weight", WIDTH, INNER)
ones("output_norm.weight")
matrix("output.weight", len(tokens), WIDTH)

writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
