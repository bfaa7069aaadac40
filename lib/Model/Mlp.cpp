//===- Mlp.cpp - a multilayer perceptron for regression -------------------===//

#include "lib/Model/Model.h"
#include <cmath>

using namespace llvm;
using namespace braid;

ModelGraph braid::buildMlp(const MlpConfig &config, BatchShape shape) {
  GraphWriter writer;
  struct Layer {
    GraphValue weight, bias;
    int64_t to;
  };
  std::vector<Layer> layers;
  int64_t from = config.features;
  for (int64_t index = 0; index < config.layers; ++index) {
    int64_t to = index + 1 == config.layers ? config.labels : config.hidden;
    std::string name = "layers." + std::to_string(index);
    double std = 1.0 / std::sqrt(static_cast<double>(from));
    GraphValue weight = writer.param(name + ".weight", {to, from}, model::normalInit(std), name);
    layers.push_back({weight, writer.param(name + ".bias", {to}, "init<zeros>", name), to});
    from = to;
  }
  GraphValue x = writer.input("features", "features", {shape.batch, config.features}, "f32");
  GraphValue labels = writer.input("labels", "labels", {shape.batch, config.labels}, "f32");

  for (auto [index, layer] : llvm::enumerate(layers)) {
    writer.enter("layers." + std::to_string(index), "layer " + std::to_string(index));
    x = writer.linear("x", "bi,oi->bo", x, layer.weight, &layer.bias, {shape.batch, layer.to});
    if (index + 1 < layers.size())
      x = writer.addOpLike("active", "tg.gelu tanh " + x.name, x);
  }
  writer.enter("loss", "mean squared error");
  GraphValue error = writer.addOpLike("error", "arith.subf " + x.name + ", " + labels.name, x);
  GraphValue square = writer.mul("square", error, error);
  GraphValue loss =
      writer.op("loss", "tg.reduce mean " + square.name + " dims [0, 1]", square, {}, "f32", /*functional=*/false);
  std::string header = "Multilayer perceptron: " + std::to_string(config.features) + " features, " +
                       std::to_string(config.layers) + " layers of " + std::to_string(config.hidden) +
                       ", mean squared error\nbatch " + std::to_string(shape.batch);
  return {writer.finish(header, {{loss, "tg.role = #tg.role<loss>"}, {x, "tg.output = \"prediction\""}}),
          writer.params()};
}
