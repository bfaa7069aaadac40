//===- GraphWriter.cpp - a tg graph as readable text ----------------------===//

#include "lib/Model/GraphWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace braid;

std::string GraphValue::type() const {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

int64_t GraphParam::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

static GraphValue makeValue(std::string name, ArrayRef<int64_t> shape, StringRef element) {
  return {std::move(name), SmallVector<int64_t, 4>(shape), element.str()};
}

GraphValue GraphWriter::param(StringRef name, ArrayRef<int64_t> shape, StringRef init, StringRef unit) {
  GraphValue value = makeValue("%" + names.of(name), shape, "f32");
  arguments.push_back(value.name + ": " + value.type() + " {tg.param = #tg.param<\"" + name.str() + "\", #tg." +
                      init.str() + ", unit = \"" + unit.str() + "\">}");
  parameters.push_back({name.str(), SmallVector<int64_t, 4>(shape)});
  return value;
}

GraphValue GraphWriter::input(StringRef name, StringRef role, ArrayRef<int64_t> shape, StringRef element) {
  GraphValue value = makeValue("%" + names.of(name), shape, element);
  arguments.push_back(value.name + ": " + value.type() + " {tg.input = \"" + name.str() + "\", tg.role = #tg.role<" +
                      role.str() + ">}");
  return value;
}

void GraphWriter::enter(StringRef where, StringRef comment) {
  place = where.str();
  if (!comment.empty())
    body += "\n    // " + comment.str() + "\n";
}

std::string GraphWriter::unique(StringRef hint) {
  std::string name;
  do
    name = (hint + "_" + Twine(counter++)).str();
  while (!names.take(name));
  return "%" + name;
}

std::vector<GraphValue> GraphWriter::ops(ArrayRef<StringRef> hints, const std::string &text,
                                         ArrayRef<GraphValue> operands, ArrayRef<GraphValue> results) {
  std::vector<GraphValue> values(results.begin(), results.end());
  SmallVector<std::string> names, ins, outs;
  for (auto [hint, value] : llvm::zip(hints, values)) {
    value.name = unique(hint);
    names.push_back(value.name);
    outs.push_back(value.type());
  }
  for (const GraphValue &operand : operands)
    ins.push_back(operand.type());
  std::string result = outs.size() == 1 ? outs.front() : "(" + join(outs, ", ") + ")";
  body += "    " + join(names, ", ") + " = " + text + " : (" + join(ins, ", ") + ") -> " + result + " loc(\"" + place +
          "\")\n";
  return values;
}

GraphValue GraphWriter::op(StringRef hint, const std::string &text, ArrayRef<GraphValue> operands,
                           ArrayRef<int64_t> shape, StringRef element, bool functional) {
  if (functional)
    return ops(hint, text, operands, makeValue("", shape, element)).front();
  GraphValue value = makeValue(unique(hint), shape, element);
  body += "    " + value.name + " = " + text + " : " + operands.front().type() + " -> " + value.type() + " loc(\"" +
          place + "\")\n";
  return value;
}

GraphValue GraphWriter::addOpLike(StringRef hint, const std::string &text, const GraphValue &like) {
  GraphValue value = makeValue(unique(hint), like.shape, like.element);
  body += "    " + value.name + " = " + text + " : " + value.type() + " loc(\"" + place + "\")\n";
  return value;
}

GraphValue GraphWriter::constant(StringRef hint, StringRef number, ArrayRef<int64_t> shape, StringRef element) {
  GraphValue value = makeValue("", shape, element);
  return addOpLike(hint, "arith.constant dense<" + number.str() + ">", value);
}

GraphValue GraphWriter::contract(StringRef hint, StringRef spec, const GraphValue &a, const GraphValue &b,
                                 ArrayRef<int64_t> shape) {
  return op(hint, "tg.contract \"" + spec.str() + "\" " + a.name + ", " + b.name, {a, b}, shape);
}

static std::string listOf(ArrayRef<int64_t> numbers) {
  std::string text;
  raw_string_ostream os(text);
  os << '[';
  interleaveComma(numbers, os);
  os << ']';
  return text;
}

GraphValue GraphWriter::broadcast(StringRef hint, const GraphValue &a, ArrayRef<int64_t> dims,
                                  ArrayRef<int64_t> shape) {
  return op(hint, "tg.broadcast " + a.name + " dims " + listOf(dims), a, shape, a.element, /*functional=*/false);
}

GraphValue GraphWriter::reshape(StringRef hint, const GraphValue &a, ArrayRef<int64_t> shape) {
  return op(hint, "tg.reshape " + a.name, a, shape, a.element, /*functional=*/false);
}

GraphValue GraphWriter::slice(StringRef hint, const GraphValue &a, int64_t dim, int64_t offset, int64_t size) {
  SmallVector<int64_t, 4> shape(a.shape);
  shape[dim] = size;
  return op(hint,
            "tg.slice " + a.name + " dim " + std::to_string(dim) + " offset " + std::to_string(offset) + " size " +
                std::to_string(size),
            a, shape, a.element, /*functional=*/false);
}

GraphValue GraphWriter::add(StringRef hint, const GraphValue &a, const GraphValue &b) {
  return addOpLike(hint, "arith.addf " + a.name + ", " + b.name, a);
}

GraphValue GraphWriter::select(StringRef hint, const GraphValue &condition, const GraphValue &onTrue,
                               const GraphValue &onFalse) {
  GraphValue value = makeValue(unique(hint), onTrue.shape, onTrue.element);
  body += "    " + value.name + " = arith.select " + condition.name + ", " + onTrue.name + ", " + onFalse.name + " : " +
          condition.type() + ", " + value.type() + " loc(\"" + place + "\")\n";
  return value;
}

GraphValue GraphWriter::mul(StringRef hint, const GraphValue &a, const GraphValue &b) {
  return addOpLike(hint, "arith.mulf " + a.name + ", " + b.name, a);
}

GraphValue GraphWriter::linear(StringRef hint, StringRef spec, const GraphValue &x, const GraphValue &weight,
                               const GraphValue *bias, ArrayRef<int64_t> shape) {
  GraphValue matmul = contract(hint, spec, x, weight, shape);
  if (!bias)
    return matmul;
  GraphValue row = broadcast("bias", *bias, {static_cast<int64_t>(shape.size()) - 1}, shape);
  return add(hint, matmul, row);
}

std::string GraphWriter::finish(StringRef header, ArrayRef<std::pair<GraphValue, std::string>> results) const {
  std::string text;
  raw_string_ostream os(text);
  SmallVector<StringRef> lines;
  header.split(lines, '\n');
  for (StringRef line : lines)
    os << "// " << line << '\n';
  os << "module {\n  func.func @model(\n      ";
  interleave(arguments, os, ",\n      ");
  os << ")\n      -> (";
  interleaveComma(results, os, [&](const auto &result) { os << result.first.type() << " {" << result.second << "}"; });
  os << ") {" << body << "    return ";
  interleaveComma(results, os, [&](const auto &result) { os << result.first.name; });
  os << " : ";
  interleaveComma(results, os, [&](const auto &result) { os << result.first.type(); });
  os << "\n  }\n}\n";
  return text;
}
