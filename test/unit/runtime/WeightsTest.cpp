//===- WeightsTest.cpp - weights of other programs, and for them ----------===//

#include "checkpoint/Weights.h"
#include "ExampleModels.h"
#include "TestFiles.h"
#include "base/Error.h"

#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace braid;
using namespace braid::test;
namespace fs = std::filesystem;

namespace {

br_tensor tensor(const char *name, std::vector<int64_t> shape) {
  br_tensor t = {};
  t.name = name, t.dtype = BR_F32, t.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), t.shape);
  return t;
}

// Writes a file with tensors of zeros, {name, shape, type} each.
struct Entry {
  std::string name;
  std::vector<int64_t> shape;
  std::string dtype = "F32";
};
std::string fileOf(const std::vector<Entry> &entries) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t at = 0;
  for (const Entry &entry : entries) {
    uint64_t bytes = safetensorsTypeSize(entry.dtype);
    for (int64_t extent : entry.shape)
      bytes *= static_cast<uint64_t>(extent);
    header[entry.name] = {{"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  return safetensors(header.dump(), std::string(at, '\0'));
}

class Weights : public testing::Test {
protected:
  void SetUp() override { fs::create_directory(folder); }

  std::map<std::string_view, std::string> match(const std::string &path) {
    std::vector<const br_tensor *> parameters;
    for (const br_tensor &t : model)
      parameters.push_back(&t);
    return matchParameters(SavedTensors(path), "gpt", parameters, /*areAll=*/true);
  }
  std::string refusal(const std::string &path) {
    try {
      match(path);
      return "";
    } catch (const Error &error) {
      return error.what();
    }
  }

  ScratchDirectory scratch;
  std::string folder = scratch / "folder";
  std::vector<br_tensor> model = {tensor("transformer.a", {2, 3}), tensor("transformer.b", {4}),
                                  tensor("lm_head.weight", {5})};
};

TEST_F(Weights, filesOfAnIndex) {
  writeFile(folder + "/x.safetensors", fileOf({{"transformer.a", {2, 3}, "BF16"}, {"left over", {1}}}));
  writeFile(folder + "/y.safetensors", fileOf({{"transformer.b", {4}, "F16"}, {"lm_head.weight", {5}}}));
  writeFile(folder + "/model.safetensors.index.json",
            R"({"metadata":{"total_size":40},"weight_map":{"transformer.a":"x.safetensors",)"
            R"("transformer.b":"y.safetensors","lm_head.weight":"y.safetensors"}})");
  EXPECT_EQ(match(folder).at("transformer.b"), "transformer.b");
  fs::remove(folder + "/y.safetensors");
  EXPECT_NE(refusal(folder).find("cannot open '"), std::string::npos);
}

TEST_F(Weights, indicesThatSayNonsense) {
  auto refusalOf = [&](const std::string &index) {
    writeFile(folder + "/model.safetensors.index.json", index);
    return refusal(folder);
  };
  EXPECT_NE(refusalOf("[").find("it has no object 'weight_map'"), std::string::npos);
  EXPECT_NE(refusalOf(R"({"weight_map":{"a":3}})").find("the file of tensor 'a' is 3, which is not a name"),
            std::string::npos);
  EXPECT_NE(refusalOf(R"({"weight_map":{"a":"../x"}})").find("is in '../x', which is not a file of the same folder"),
            std::string::npos);
  writeFile(folder + "/x", fileOf({{"b", {1}}}));
  EXPECT_NE(refusalOf(R"({"weight_map":{"a":"x"}})").find("tensor 'a' is in 'x', which does not have it"),
            std::string::npos);
}

// Names as in openai-community/gpt2.
TEST_F(Weights, namesWithoutThePrefixOfAllParameters) {
  model.pop_back();
  writeFile(folder + "/model.safetensors", fileOf({{"a", {2, 3}}, {"b", {4}}, {"h.0.attn.bias", {1, 1, 8, 8}}}));
  EXPECT_EQ(match(folder).at("transformer.a"), "a");
}

TEST_F(Weights, allMisfitsInOneMessage) {
  writeFile(folder + "/model.safetensors",
            fileOf({{"transformer.a", {3, 2}}, {"extra.1", {1}}, {"extra.2", {1}}, {"lm_head.weight", {5}, "I32"}}));
  EXPECT_EQ(refusal(folder),
            "'" + folder +
                "' does not have the parameters of model 'gpt': it lacks 1 tensor ('transformer.b'); it has "
                "2 tensors ('extra.1', 'extra.2') that the model lacks; tensor 'transformer.a' has shape [3, 2] in the "
                "file, but "
                "[2, 3] in the model; tensor 'lm_head.weight' has type I32, which cannot become the model's F32");
}

// Versions of Transformers use either name for the head of GPT-NeoX.
TEST_F(Weights, headsUnderAnotherName) {
  model.back() = tensor("embed_out.weight", {5});
  writeFile(folder + "/model.safetensors",
            fileOf({{"transformer.a", {2, 3}}, {"transformer.b", {4}}, {"lm_head.weight", {5}}}));
  EXPECT_EQ(match(folder).at("embed_out.weight"), "lm_head.weight");
  // This does not apply if the model has both.
  model.push_back(tensor("lm_head.weight", {5}));
  EXPECT_NE(refusal(folder).find("it lacks 1 tensor ('embed_out.weight')"), std::string::npos);
}

TEST_F(Weights, headsThatAreTheTable) {
  model.pop_back();
  auto refusalOf = [&](const Entry &head, char first) {
    std::string text = fileOf({head, {"transformer.a", {2, 3}}, {"transformer.b", {4}}});
    text[text.size() - 64] = first; // of the head: it is first of 64 bytes
    writeFile(folder + "/model.safetensors", text);
    return refusal(folder);
  };
  EXPECT_EQ(refusalOf({"lm_head.weight", {2, 3}}, 0), "");
  EXPECT_NE(refusalOf({"lm_head.weight", {2, 3}}, 1).find("tensor 'lm_head.weight' differs from 'transformer.a'"),
            std::string::npos);
  EXPECT_NE(refusalOf({"lm_head.weight", {3, 2}}, 0).find("it has 1 tensor ('lm_head.weight') that the model lacks"),
            std::string::npos);
}

TEST_F(Weights, masksAreNoBiases) {
  model.pop_back();
  auto refusalOf = [&](const std::string &name, const std::vector<int64_t> &shape) {
    writeFile(folder + "/model.safetensors",
              fileOf({{"transformer.a", {2, 3}}, {"transformer.b", {4}}, {name, shape, "U8"}}));
    return refusal(folder);
  };
  for (const char *name : {"transformer.h.0.attn.bias", "gpt_neox.layers.0.attention.bias"}) {
    EXPECT_EQ(refusalOf(name, {1, 1, 8, 8}), "");
    EXPECT_NE(refusalOf(name, {8}).find("that the model lacks"), std::string::npos) << name;
  }
  EXPECT_EQ(refusalOf("h.0.attn.masked_bias", {}), "");
  EXPECT_EQ(refusalOf("rotary_emb.inv_freq", {8}), "");
  EXPECT_NE(refusalOf("other_rotary_emb.inv_freq", {8}), "");
}

// If there are many, the message names the first few.
TEST_F(Weights, manyMisfitsAreCounted) {
  std::vector<Entry> entries;
  std::vector<std::string> names;
  for (int i = 0; i < 10; ++i)
    names.push_back("w" + std::to_string(i));
  model.clear();
  for (const std::string &name : names) {
    model.push_back(tensor(name.c_str(), {2}));
    entries.push_back({name, {3}, "I32"});
  }
  writeFile(folder + "/model.safetensors", fileOf(entries));
  const std::string text = refusal(folder);
  EXPECT_NE(text.find("tensor 'w0' has shape [3] in the file, but [2] in the model; tensor 'w0' has type I32, which"),
            std::string::npos);
  EXPECT_TRUE(text.ends_with("and 12 more")) << text;
}

class Export : public testing::Test {
protected:
  Outcome main(std::vector<std::string> arguments) { return runMain(model, arguments); }

  ScratchDirectory scratch;
  std::string out = scratch / "out", weights = scratch / "weights";
  br_model model = regressionModel();
};

TEST_F(Export, writesWeightsConfigAndTokenizer) {
  model.config = R"({"model_type":"linear","torch_dtype":"float16"})";
  const float numbers[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::string data(48, '\0');
  std::memcpy(data.data(), numbers, 48);
  fs::create_directory(weights);
  writeFile(weights + "/model.safetensors",
            safetensors(R"({"w":{"dtype":"F32","shape":[4,3],"data_offsets":[0,48]}})", data));
  writeFile(weights + "/tokenizer.json", "{}");
  Outcome run = main({"export", out, "--init", weights, "--type", "bf16"});
  ASSERT_EQ(run.status, 0) << run.errors;
  EXPECT_EQ(nlohmann::json::parse(readFile(out + "/config.json")),
            (nlohmann::json{{"model_type", "linear"}, {"torch_dtype", "bfloat16"}}));
  EXPECT_EQ(readFile(out + "/tokenizer.json"), "{}");
  const std::string file = readFile(out + "/model.safetensors");
  EXPECT_NE(file.find(R"({"__metadata__":{"format":"pt"},"w":{"dtype":"BF16","shape":[4,3],"data_offsets":[0,24]}})"),
            std::string::npos);
  EXPECT_EQ(littleEndianAt(file) % 8, 0u);
  EXPECT_EQ(file.substr(file.size() - 24, 4), littleEndian(0x3f80, 2) + littleEndian(0x4000, 2));

  Outcome again = main({"export", out, "--init", weights});
  EXPECT_EQ(again.status, 1);
  EXPECT_NE(again.errors.find("already exists, and is not overwritten"), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path), {}), 2); // nothing half written
}

// Shapes do not show the base of rotary positions.
TEST_F(Export, warnsOfOtherConfigurations) {
  model.config = R"({"rope_theta":10000,"hidden_size":8,"torch_dtype":"float32","only_here":1})";
  fs::create_directory(weights);
  writeFile(weights + "/config.json", R"({"rope_theta":500000.0,"hidden_size":8.0,"torch_dtype":"bfloat16","x":2})");
  writeFile(weights + "/model.safetensors",
            safetensors(R"({"w":{"dtype":"F32","shape":[4,3],"data_offsets":[0,48]}})", std::string(48, '\0')));
  const std::string data = writeFile(scratch / "data", regressionData());
  Outcome run = main({"train", "--data", data, "--steps", "1", "--threads", "1", "--init", weights});
  EXPECT_EQ(run.status, 0) << run.errors;
  EXPECT_EQ(run.errors, "warning: the config.json in '" + weights +
                            "' is not the model's: rope_theta is 500000.0 in the file, but 10000 in the model\n");
}

TEST_F(Export, refusesFoldersWithoutATokenizer) {
  writeFile(weights,
            safetensors(R"({"w":{"dtype":"F32","shape":[4,3],"data_offsets":[0,48]}})", std::string(48, '\0')));
  Outcome run = main({"export", out, "--init", weights, "--tokenizer", scratch.path});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("found no file of a tokenizer"), std::string::npos) << run.errors;
  EXPECT_FALSE(fs::exists(out));
  run = main({"export", out, "--init", weights});
  EXPECT_EQ(run.status, 0) << run.errors;
  EXPECT_NE(run.output.find("without a config.json"), std::string::npos) << run.output;
}

} // namespace
