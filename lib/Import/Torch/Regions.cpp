//===- Regions.cpp - no_grad and autocast regions of a program ------------===//
//
// torch.export writes `with torch.no_grad()` and `with torch.autocast(...)` as a call that has a graph. The graph's
// calls become calls of the program, under names with a prefix. Results of a region without gradient are detached;
// autocast becomes conversions of operands.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Torch/ProgramReader.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace braid::torch;

/// Ops whose float operands autocast converts to its type.
static constexpr StringLiteral kProducts[] = {
    "aten.linear.default", "aten.addmm.default",  "aten.mm.default",
    "aten.bmm.default",    "aten.matmul.default", "aten.einsum.default",
    "aten.conv1d.default", "aten.conv2d.default", "aten.scaled_dot_product_attention.default"};

static bool isFloat(ScalarType type) {
  return type == ScalarType::F32 || type == ScalarType::F64 || type == ScalarType::BF16 || type == ScalarType::F16;
}

/// Converts the operands of a call as autocast does, which the types of results tell: matrix products compute in
/// autocast's type, and ops that need precision in float32.
void Reader::convertOperands(Call &call) {
  if (!autocast || call.results.empty() || StringRef(call.op).starts_with("aten.to.") ||
      StringRef(call.op).starts_with("aten._to_copy"))
    return;
  ScalarType result = program.typeOf(call.results.front()).element;
  bool isProduct = is_contained(kProducts, call.op) && result == *autocast;
  if (!isProduct && result != ScalarType::F32)
    return;
  auto convert = [&](TensorName &tensor) {
    if (tensor.name.empty() || !program.tensors.contains(tensor.name))
      return;
    TypeOfTensor type = program.typeOf(tensor.name);
    if (!isFloat(type.element) || type.element == result || (!isProduct && type.element != *autocast))
      return;
    type.element = result;
    std::string name = prefix + "cast" + std::to_string(defined.size());
    defined.insert(name);
    program.tensors[name] = type;
    Call conversion{"aten.to.dtype", {{"self", tensor}, {"dtype", result}}, {name}, call.module, call.file, call.line};
    program.calls.push_back(std::move(conversion));
    tensor.name = name;
  };
  for (auto &[name, argument] : call.arguments) {
    if (auto *tensor = std::get_if<TensorName>(&argument))
      convert(*tensor);
    if (auto *tensors = std::get_if<TensorNames>(&argument))
      for (TensorName &each : *tensors)
        convert(each);
  }
}

/// Reads the calls of a region's graph. `arguments` are the tensors that its inputs stand for.
void Reader::inlineRegion(const json::Object &graph, const std::vector<std::string> &arguments, Call &region) {
  StringMap<std::string> outer;
  std::swap(outer, renamed);
  std::string outerPrefix = prefix;
  prefix = outerPrefix + "region" + std::to_string(++regions) + "_";
  for (const auto &[name, meta] : object(graph.get("tensor_values"), "'tensor_values'"))
    program.tensors.try_emplace(prefix + StringRef(name).str(),
                                readType(object(&meta, "a tensor's type"), StringRef(name)));
  const json::Array &inputs = array(graph.get("inputs"), "'inputs' of a region");
  if (inputs.size() != arguments.size())
    fail(region.op + " has " + Twine(arguments.size()) + " operands, and its graph has " + Twine(inputs.size()));
  for (auto [input, argument] : llvm::zip(inputs, arguments))
    renamed[text(object(object(&input, "an input").get("as_tensor"), "an input"), "name")] = argument;
  for (const json::Value &node : array(graph.get("nodes"), "'nodes'"))
    readCall(object(&node, "a call"));
  std::vector<std::string> results;
  for (const json::Value &output : array(graph.get("outputs"), "'outputs' of a region"))
    results.push_back(use(text(object(object(&output, "an output").get("as_tensor"), "an output"), "name")));
  std::swap(outer, renamed);
  prefix = outerPrefix;
  region.arguments.clear();
  for (const std::string &result : results)
    region.arguments.emplace_back("self", TensorName{result});
}

bool Reader::readRegion(const json::Object &node, Call &region) {
  bool isGradient = region.op == "higher_order.wrap_with_set_grad_enabled";
  if (!isGradient && region.op != "higher_order.wrap_with_autocast")
    return false;
  std::optional<bool> isEnabled;
  std::optional<ScalarType> type;
  const json::Object *graph = nullptr;
  std::vector<std::string> arguments;
  for (const json::Value &value : array(node.get("inputs"), "'inputs' of a call")) {
    const json::Object &argument = object(object(&value, "an input of a call").get("arg"), "an argument");
    if (const json::Object *holder = argument.getObject("as_graph")) {
      graph = &object(holder->get("graph"), "'graph'");
    } else if (!graph) {
      Argument read = readArgument(argument);
      if (const bool *flag = std::get_if<bool>(&read); flag && !isEnabled)
        isEnabled = *flag;
      if (const ScalarType *given = std::get_if<ScalarType>(&read))
        type = *given;
    } else {
      arguments.push_back(use(text(object(argument.get("as_tensor"), "an operand of a region"), "name")));
    }
  }
  if (!graph || !isEnabled || (!isGradient && *isEnabled && !type)) {
    fail(region.op + " has other arguments than a flag, a type and a graph");
    return true;
  }
  if (isGradient && *isEnabled && isWithoutGradient)
    fail("torch.enable_grad() inside torch.no_grad() is not supported; end the outer region first");
  auto outerAutocast = autocast;
  bool outerGradient = isWithoutGradient;
  if (isGradient)
    isWithoutGradient = !*isEnabled;
  else
    autocast = *isEnabled ? type : std::nullopt;
  inlineRegion(*graph, arguments, region);
  autocast = outerAutocast;
  isWithoutGradient = outerGradient;
  readResults(array(node.get("outputs"), "'outputs' of a call"), region);
  if (region.results.size() != region.arguments.size())
    fail(region.op + " has " + Twine(region.results.size()) + " results, and its graph has " +
         Twine(region.arguments.size()));
  bool isDetached = isGradient && !*isEnabled;
  for (auto [result, value] : llvm::zip(region.results, region.arguments))
    program.calls.push_back(Call{isDetached ? "aten.detach.default" : "aten.alias.default",
                                 {value},
                                 {result},
                                 region.module,
                                 region.file,
                                 region.line});
  return true;
}
