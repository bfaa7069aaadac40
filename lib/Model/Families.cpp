//===- Families.cpp - the config.json of each family ----------------------===//
//
// Each family is a row of the table at the end: its description with Transformers' defaults, and
// a function that reads its settings.  Only dropout differs: it is off unless a file mentions it.
//
//===----------------------------------------------------------------------===//

#include "lib/Model/Families.h"
#include "lib/Model/CommonSettings.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace llvm;
using namespace braid;

//===----------------------------------------------------------------------===//
// GPT-2 (Radford et al. 2019)
//===----------------------------------------------------------------------===//

static void describeGpt2(DecoderConfig &config) {
  config.title = "GPT-2";
  DecoderNames &names = config.names;
  names.root = "transformer", names.blocks = "h", names.table = "wte", names.positions = "wpe";
  names.lastNorm = "ln_f", names.firstNorm = "ln_1", names.secondNorm = "ln_2";
  names.attention = "attn", names.fused = "c_attn", names.out = "c_proj";
  names.mlp = "mlp", names.up = "c_fc", names.down = "c_proj";
  config.vocab = 50257, config.positions = 1024, config.width = 768, config.layers = 12, config.heads = 12;
  config.norm = DecoderConfig::Norm::Layer, config.eps = 1e-5;
  config.projection = DecoderConfig::Projection::Fused;
  config.activation = "gelu tanh";
  config.queryBias = config.outBias = config.mlpBias = true;
  config.tied = config.storesInputByOutput = config.scaledInit = true;
}

static void readGpt2(Settings &settings, DecoderConfig &config) {
  settings.read("vocab_size", config.vocab);
  settings.readEither("n_positions", "max_position_embeddings", config.positions);
  settings.readEither("n_embd", "hidden_size", config.width);
  settings.readEither("n_layer", "num_hidden_layers", config.layers, 1 << 12);
  settings.readEither("n_head", "num_attention_heads", config.heads, 1 << 12);
  config.inner = 4 * config.width;
  settings.read("n_inner", config.inner);
  settings.readActivation("activation_function", config.activation);
  settings.read("layer_norm_epsilon", config.eps, 0.0, 1.0);
  settings.read("initializer_range", config.initStd, 0.0, 1e3);
  settings.read("embd_pdrop", config.embedDropout, 0.0, 1.0);
  settings.read("resid_pdrop", config.residualDropout, 0.0, 1.0);
  settings.read("attn_pdrop", config.attentionDropout, 0.0, 1.0);
  bool isScaled = true;
  settings.read("scale_attn_weights", isScaled);
  config.scale = isScaled ? 0.0 : 1.0;
  settings.read("scale_attn_by_inverse_layer_idx", config.scaleByLayer);
  settings.read("tie_word_embeddings", config.tied);
  settings.refuseUnless("add_cross_attention", false);
  // Settings of how Transformers computes the same, and of heads that it puts on top of other models.
  settings.ignore({"pad_token_id", "n_ctx", "reorder_and_upcast_attn", "summary_activation", "summary_first_dropout",
                   "summary_proj_to_labels", "summary_type", "summary_use_proj"});
  divideHeads(settings, config, "n_head", "n_embd");
  config.kvHeads = config.heads;
}

//===----------------------------------------------------------------------===//
// Llama (Touvron et al. 2023) and the families after it
//===----------------------------------------------------------------------===//

static void describeLlama(DecoderConfig &config) {
  config.title = "Llama";
  DecoderNames &names = config.names;
  names.root = "model", names.blocks = "layers", names.table = "embed_tokens", names.lastNorm = "norm";
  names.firstNorm = "input_layernorm", names.secondNorm = "post_attention_layernorm";
  names.attention = "self_attn", names.query = "q_proj", names.key = "k_proj", names.value = "v_proj",
  names.out = "o_proj";
  names.mlp = "mlp", names.gate = "gate_proj", names.up = "up_proj", names.down = "down_proj";
  config.vocab = 32000, config.positions = 2048, config.width = 4096, config.layers = 32, config.heads = 32;
  config.inner = 11008;
  config.activation = "silu";
  config.gated = config.normsLast = true;
}

static void readLlama(Settings &settings, DecoderConfig &config) {
  readModern(settings, config);
  settings.readActivation("hidden_act", config.activation);
  readAttentionBias(settings, config);
  settings.read("mlp_bias", config.mlpBias);
  settings.ignore({"pretraining_tp"});
  readRope(settings, config);
}

/// Mistral (Jiang et al. 2023): every layer has the window.
static void describeMistral(DecoderConfig &config) {
  describeLlama(config);
  config.title = "Mistral";
  config.positions = 131072, config.inner = 14336, config.kvHeads = 8;
}

static void readMistral(Settings &settings, DecoderConfig &config) {
  readModern(settings, config);
  settings.readActivation("hidden_act", config.activation);
  int64_t window = 4096;
  settings.readOptional("sliding_window", window);
  config.windows.assign(config.layers, window);
  readRope(settings, config);
}

/// Qwen 2 (Yang et al. 2024): biases of queries, keys and values.
static void describeQwen2(DecoderConfig &config) {
  describeLlama(config);
  config.title = "Qwen 2";
  config.vocab = 151936, config.positions = 32768, config.inner = 22016, config.kvHeads = 32;
  config.queryBias = true;
}

static void readQwen2(Settings &settings, DecoderConfig &config) {
  readModern(settings, config);
  settings.readActivation("hidden_act", config.activation);
  QwenWindow window = readQwenWindow(settings);
  setWindows(settings, config, window.size, [&](int64_t layer) { return window.size && layer >= window.layer; });
  settings.refuseUnless("use_mrope", false);
  readRope(settings, config);
}

/// Qwen 3 (Yang et al. 2025): norms of queries and keys instead of biases.
static void describeQwen3(DecoderConfig &config) {
  describeQwen2(config);
  config.title = "Qwen 3";
  config.names.queryNorm = "q_norm", config.names.keyNorm = "k_norm";
  config.headSize = 128;
  config.queryBias = false;
}

static void readQwen3(Settings &settings, DecoderConfig &config) {
  readQwen2(settings, config);
  readAttentionBias(settings, config);
}

//===----------------------------------------------------------------------===//
// Gemma 2 and 3 (Gemma Team 2024, 2025)
//===----------------------------------------------------------------------===//

static void describeGemma2(DecoderConfig &config) {
  describeLlama(config);
  config.title = "Gemma 2";
  DecoderNames &names = config.names;
  names.attentionPostNorm = "post_attention_layernorm", names.secondNorm = "pre_feedforward_layernorm";
  names.mlpPostNorm = "post_feedforward_layernorm";
  config.vocab = 256000, config.positions = 8192, config.width = 2304, config.inner = 9216, config.layers = 26;
  config.heads = 8, config.kvHeads = 4, config.headSize = 256;
  config.normOffset = 1;
  config.activation = "gelu tanh";
  config.tied = true;
  config.padding = 0;
  config.attentionSoftcap = 50, config.logitSoftcap = 30;
}

/// Reads the settings of both Gemma families. Every `full`th layer has no window.
static void readGemma(Settings &settings, DecoderConfig &config, int64_t full) {
  readModern(settings, config);
  settings.readActivation("hidden_activation", config.activation);
  std::string older = config.activation;
  settings.readActivation("hidden_act", older);
  settings.check(older == config.activation, "'hidden_act' and 'hidden_activation' disagree; leave 'hidden_act' out");
  readAttentionBias(settings, config);
  double scalar = 256;
  settings.read("query_pre_attn_scalar", scalar, 1e-6, 1e9);
  config.scale = 1 / std::sqrt(scalar);
  config.embeddingScale = std::sqrt(static_cast<double>(config.width));
  settings.readOptional("final_logit_softcapping", config.logitSoftcap, 1e-6, 1e9);
  int64_t window = 4096;
  settings.readOptional("sliding_window", window);
  setWindows(settings, config, window, [&](int64_t layer) { return (layer + 1) % full != 0; });
  settings.refuseUnless("use_bidirectional_attention", false);
}

static void readGemma2(Settings &settings, DecoderConfig &config) {
  readGemma(settings, config, /*full=*/2);
  settings.ignore({"sliding_window_size"}); // beside sliding_window in published files; Transformers does not read it
  settings.readOptional("attn_logit_softcapping", config.attentionSoftcap, 1e-6, 1e9);
  readRope(settings, config);
}

/// Norms of queries and keys instead of soft caps, and rotary frequencies for each kind of layer.
static void describeGemma3(DecoderConfig &config) {
  describeGemma2(config);
  config.title = "Gemma 3";
  config.names.queryNorm = "q_norm", config.names.keyNorm = "k_norm";
  config.vocab = 262208, config.positions = 131072;
  config.attentionSoftcap = config.logitSoftcap = 0;
  config.rope.theta = 1e6;
}

static void readGemma3(Settings &settings, DecoderConfig &config) {
  int64_t full = 6;
  settings.read("_sliding_window_pattern", full);
  settings.read("sliding_window_pattern", full);
  readGemma(settings, config, full);
  settings.refuseUnless("attn_logit_softcapping", nullptr);
  readRopeByLayer(settings, config);
}

//===----------------------------------------------------------------------===//
// GPT-NeoX (Black et al. 2022) and Phi (Gunasekar et al. 2023)
//===----------------------------------------------------------------------===//

static void describeGptNeoX(DecoderConfig &config) {
  config.title = "GPT-NeoX";
  DecoderNames &names = config.names;
  names.root = "gpt_neox", names.blocks = "layers", names.table = "embed_in", names.lastNorm = "final_layer_norm";
  names.head = "embed_out";
  names.firstNorm = "input_layernorm", names.secondNorm = "post_attention_layernorm";
  names.attention = "attention", names.fused = "query_key_value", names.out = "dense";
  names.mlp = "mlp", names.up = "dense_h_to_4h", names.down = "dense_4h_to_h";
  config.vocab = 50432, config.positions = 2048, config.width = 6144, config.layers = 44, config.heads = 64;
  config.inner = 24576;
  config.norm = DecoderConfig::Norm::Layer, config.eps = 1e-5;
  config.projection = DecoderConfig::Projection::FusedByHead;
  config.activation = "gelu erf";
  config.queryBias = config.outBias = config.mlpBias = config.parallelResidual = true;
}

static void readGptNeoX(Settings &settings, DecoderConfig &config) {
  readSizes(settings, config);
  divideHeads(settings, config);
  config.kvHeads = config.heads;
  settings.readActivation("hidden_act", config.activation);
  settings.read("layer_norm_eps", config.eps, 0.0, 1.0);
  settings.read("attention_dropout", config.attentionDropout, 0.0, 1.0);
  settings.read("hidden_dropout", config.residualDropout, 0.0, 1.0);
  config.embedDropout = config.residualDropout;
  readAttentionBias(settings, config);
  settings.read("use_parallel_residual", config.parallelResidual);
  // Transformers reads the second and third only under other names.
  settings.ignore({"pad_token_id", "attention_probs_dropout_prob", "hidden_dropout_prob"});
  readRope(settings, config, {.legacyTheta = "rotary_emb_base", .legacyShare = "rotary_pct", .share = 0.25});
}

/// Attention and the MLP share a norm.
static void describePhi(DecoderConfig &config) {
  describeLlama(config);
  config.title = "Phi";
  DecoderNames &names = config.names;
  names.lastNorm = "final_layernorm", names.secondNorm = "";
  names.out = "dense", names.gate = "", names.up = "fc1", names.down = "fc2";
  config.vocab = 51200, config.width = 2048, config.inner = 8192, config.layers = 24;
  config.norm = DecoderConfig::Norm::Layer, config.eps = 1e-5;
  config.activation = "gelu tanh";
  config.gated = false;
  config.queryBias = config.outBias = config.mlpBias = config.headBias = config.parallelResidual = true;
}

static void readPhi(Settings &settings, DecoderConfig &config) {
  readSizes(settings, config);
  readPadding(settings, config);
  readHeads(settings, config);
  settings.readActivation("hidden_act", config.activation);
  settings.read("layer_norm_eps", config.eps, 0.0, 1.0);
  settings.read("attention_dropout", config.attentionDropout, 0.0, 1.0);
  settings.read("resid_pdrop", config.residualDropout, 0.0, 1.0);
  settings.read("embd_pdrop", config.embedDropout, 0.0, 1.0);
  bool hasNorms = false;
  settings.read("qk_layernorm", hasNorms);
  if (hasNorms)
    config.names.queryNorm = "q_layernorm", config.names.keyNorm = "k_layernorm";
  readRope(settings, config, {.share = 0.5});
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr Family kFamilies[] = {
    {"gpt2", describeGpt2, readGpt2},
    {"llama", describeLlama, readLlama},
    {"mistral", describeMistral, readMistral},
    {"qwen2", describeQwen2, readQwen2},
    {"qwen3", describeQwen3, readQwen3},
    {"mixtral", describeMixtral, readMixtral},
    {"qwen2_moe", describeQwen2Moe, readQwen2Moe},
    {"qwen3_moe", describeQwen3Moe, readQwen3Moe},
    {"gemma2", describeGemma2, readGemma2},
    {"gemma3_text", describeGemma3, readGemma3},
    {"gpt_neox", describeGptNeoX, readGptNeoX},
    {"phi", describePhi, readPhi},
};

const Family *braid::findFamily(StringRef type) {
  const Family *found = llvm::find_if(kFamilies, [&](const Family &family) { return family.type == type; });
  return found == std::end(kFamilies) ? nullptr : found;
}

static std::string familyNames() {
  return llvm::join(llvm::map_range(kFamilies, [](const Family &family) { return StringRef(family.type); }), ", ");
}

/// Kinds of models that do not predict the next token of a text, with their types separated by spaces.
static constexpr std::pair<StringLiteral, StringLiteral> kOtherKinds[] = {
    {"an encoder, in which positions read later positions",
     " albert bert big_bird camembert convbert data2vec-text deberta deberta-v2 distilbert electra ernie esm eurobert "
     "flaubert longformer mobilebert modernbert mpnet nezha nomic_bert rembert roberta roformer squeezebert xlm "
     "xlm-roberta xlm-roberta-xl xlnet "},
    {"an encoder with a decoder",
     " bart blenderbot fsmt led longt5 m2m_100 marian mbart mt5 mvp nllb-moe pegasus pegasus_x plbart prophetnet "
     "speech_to_text switch_transformers t5 t5gemma umt5 whisper "},
    {"a model of images or sound", " beit blip blip-2 clip convnext deit detr dinov2 dinov3_vit hubert resnet "
                                   "segformer siglip swin vit vit_mae wav2vec2 wav2vec2-bert wavlm "},
    {"a recurrent or state space model", " falcon_mamba mamba mamba2 recurrent_gemma rwkv "}};

/// Returns the kind of a type; empty for types of other models.
static StringRef kindOf(StringRef type) {
  for (const auto &[kind, types] : kOtherKinds)
    if (types.contains((" " + type + " ").str()))
      return kind;
  return "";
}

/// Returns the supported family that computes most alike; for unknown types, the one spelled most alike, if any.
static StringRef closestFamily(StringRef type) {
  StringRef relative = StringSwitch<StringRef>(type)
                           .Cases("gpt_neo", "gpt_bigcode", "opt", "bloom", "mpt", "gpt2")
                           .Cases("gptj", "codegen", "falcon", "gpt_neox_japanese", "gpt_neox")
                           .Cases("olmo", "granite", "cohere", "deepseek_v3", "llama4", "phi3", "smollm3", "llama")
                           .Cases("ministral", "ministral3", "mistral3", "mistral")
                           .Cases("olmoe", "dbrx", "phimoe", "granitemoe", "mixtral")
                           .Cases("qwen3_next", "qwen3_5_moe", "glm4_moe", "qwen3_moe")
                           .Cases("stablelm", "persimmon", "phi")
                           .Case("gemma", "gemma2")
                           .Cases("gemma3", "gemma3n", "gemma4", "gemma3_text")
                           .Default("");
  if (!relative.empty())
    return relative;
  auto distance = [&](const Family &family) { return type.edit_distance(family.type); };
  const Family *nearest =
      llvm::min_element(kFamilies, [&](const Family &a, const Family &b) { return distance(a) < distance(b); });
  return distance(*nearest) <= std::max<size_t>(1, type.size() / 3) ? StringRef(nearest->type) : StringRef();
}

std::string braid::unknownFamilyError(StringRef type) {
  std::string families = " (families: " + familyNames() + ")";
  if (type.empty())
    return "no 'model_type', which names the family" + families;
  std::string text = ("unknown 'model_type' '" + type + "'").str();
  if (StringRef kind = kindOf(type); !kind.empty())
    return text + ": it is " + kind.str() + ", but only text decoders are supported" + families;
  StringRef closest = closestFamily(type);
  return text + (closest.empty() ? std::string() : "; the most similar supported family is " + closest.str()) +
         families;
}
