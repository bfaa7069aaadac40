//===- LossOption.cpp - a loss for a program that returns none ------------===//

#include "lib/Import/Torch/Losses.h"
#include "lib/Import/Torch/Translation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

//===----------------------------------------------------------------------===//
// The option
//===----------------------------------------------------------------------===//

/// Reads NAME=VALUE behind the output and the labels. Fails for names that the loss does not have.
static Error readSetting(StringRef setting, LossRequest &request) {
  auto [name, value] = setting.split('=');
  if (request.kind == LossRequest::Kind::CrossEntropy && name == "label_smoothing" &&
      !value.getAsDouble(request.labelSmoothing) && request.labelSmoothing >= 0 && request.labelSmoothing <= 1)
    return Error::success();
  if (request.kind == LossRequest::Kind::CrossEntropy && name == "ignore_index" &&
      !value.getAsInteger(10, request.ignoreIndex) && std::abs(request.ignoreIndex) <= INT32_MAX)
    return Error::success();
  return createStringError("'" + setting +
                           "' is no setting of this loss; cross_entropy has label_smoothing=NUMBER from "
                           "0 to 1 and ignore_index=INTEGER, and the others have none");
}

Expected<LossRequest> braid::torch::parseLoss(StringRef text) {
  auto [name, rest] = text.split('(');
  std::optional<LossRequest::Kind> kind = llvm::StringSwitch<std::optional<LossRequest::Kind>>(name)
                                              .Case("cross_entropy", LossRequest::Kind::CrossEntropy)
                                              .Case("mse", LossRequest::Kind::SquaredError)
                                              .Case("bce", LossRequest::Kind::BinaryCrossEntropy)
                                              .Default(std::nullopt);
  if (!kind || !rest.consume_back(")"))
    return createStringError("'" + text +
                             "' is no loss; the losses are cross_entropy(OUTPUT,LABELS), mse(OUTPUT,LABELS) "
                             "and bce(OUTPUT,LABELS)");
  SmallVector<StringRef> parts;
  rest.split(parts, ',');
  for (StringRef &part : parts)
    part = part.trim();
  if (parts.size() < 2 || parts[0].empty() || parts[1].empty() || parts[1].contains('='))
    return createStringError("'" + text + "' names no output and labels: " + name + "(OUTPUT,LABELS)");
  LossRequest request{*kind, parts[0].str(), parts[1].str()};
  for (StringRef setting : ArrayRef(parts).drop_front(2))
    if (Error error = readSetting(setting, request))
      return error;
  return request;
}

//===----------------------------------------------------------------------===//
// The loss
//===----------------------------------------------------------------------===//

/// Returns the type of a loss's labels: a class number for each row of the last dim, or a number for each element.
static RankedTensorType labelType(LossRequest::Kind kind, RankedTensorType output) {
  if (kind != LossRequest::Kind::CrossEntropy)
    return output;
  return RankedTensorType::get(output.getShape().drop_back(), IntegerType::get(output.getContext(), 32));
}

/// Returns the labels: an input of the program, or a new one.
Value Translator::labelsOf(const LossRequest &request, RankedTensorType type) {
  for (const Input &input : program.inputs)
    if (input.kind == Input::Kind::User && input.target == request.labels) {
      Value labels = valueOf(input.name, function.getLoc());
      if (labels.getType() == type)
        return labels;
      emitError(function.getLoc()) << "--loss: the labels '" << request.labels << "' are " << labels.getType()
                                   << ", and the output '" << request.output << "' needs " << type;
      return {};
    }
  bool isClasses = request.kind == LossRequest::Kind::CrossEntropy;
  tg::Role role = isClasses ? tg::Role::Targets : tg::Role::Labels;
  return addArgument(type, {builder.getNamedAttr("tg.input", builder.getStringAttr(request.labels)),
                            builder.getNamedAttr("tg.role", tg::RoleAttr::get(builder.getContext(), role))});
}

Value Translator::requestedLoss(const LossRequest &request) {
  Location loc = function.getLoc();
  SmallVector<std::string> names;
  Value output;
  for (auto [number, each] : enumerate(program.outputs))
    if (each.kind != Output::Kind::BufferMutation) {
      names.push_back(nameOfOutput(number));
      if (names.back() == request.output)
        output = valueOf(each.name, loc);
    }
  if (!output) {
    emitError(loc) << "--loss: the program has no output '" << request.output << "'; its outputs are "
                   << join(names, ", ");
    return {};
  }
  RankedTensorType type = tg::typeOf(output);
  if (!tg::isFloat(output) || type.getRank() == 0) {
    emitError(loc) << "--loss: the output '" << request.output << "' is " << type << ", and must be floats with a dim";
    return {};
  }
  Value labels = labelsOf(request, labelType(request.kind, type));
  if (!labels)
    return {};
  tg::TensorBuilder b(builder, loc);
  if (request.kind == LossRequest::Kind::CrossEntropy)
    return crossEntropyOf(b, output, labels, tg::LossReduction::Mean, request.ignoreIndex, request.labelSmoothing);
  Value terms = request.kind == LossRequest::Kind::SquaredError ? squaredErrors(b, output, labels)
                                                                : binaryCrossEntropies(b, output, labels);
  return b.reduce(tg::ReduceKind::Mean, terms, tg::dimRange(0, type.getRank()));
}
