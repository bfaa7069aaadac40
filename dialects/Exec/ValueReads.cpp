//===- ValueReads.cpp - exec.reads encoded as numbers ---------------------===//
//
// The numbers of a ValueRead are: rank, shape, number of sources, {action, number} of each, number of
// elements, and for each element its index, {action, number}, rank of the source, and index in the source.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/ValueReads.h"
#include "dialects/Exec/Exec.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace braid::exec;

static void append(const ValueRead &read, SmallVectorImpl<int64_t> &numbers) {
  numbers.push_back(read.shape.size());
  llvm::append_range(numbers, read.shape);
  numbers.push_back(read.sources.size());
  for (ValueSource source : read.sources)
    numbers.append({source.action, source.number});
  numbers.push_back(read.elements.size());
  for (const ElementSource &element : read.elements) {
    llvm::append_range(numbers, element.index);
    numbers.append({element.source.action, element.source.number, static_cast<int64_t>(element.sourceIndex.size())});
    llvm::append_range(numbers, element.sourceIndex);
  }
}

DictionaryAttr braid::exec::encodeReads(MLIRContext *context, const ProgramReads &reads) {
  Builder builder(context);
  auto numbersOf = [&](ArrayRef<ValueRead> operands) -> Attribute {
    SmallVector<int64_t> numbers;
    for (const ValueRead &read : operands)
      append(read, numbers);
    return builder.getDenseI64ArrayAttr(numbers);
  };
  auto names = [&](ArrayRef<std::string> texts) {
    SmallVector<StringRef> list(texts.begin(), texts.end());
    return builder.getStrArrayAttr(list);
  };
  SmallVector<Attribute> actions;
  for (ArrayRef<ValueRead> operands : reads.actions)
    actions.push_back(numbersOf(operands));
  return builder.getDictionaryAttr({builder.getNamedAttr("actions", builder.getArrayAttr(actions)),
                                    builder.getNamedAttr("arguments", names(reads.arguments)),
                                    builder.getNamedAttr("results", numbersOf(reads.results)),
                                    builder.getNamedAttr("updates", names(reads.updates))});
}

namespace {
/// Reads numbers in order. Sets `isBroken` at the end of the numbers, or at a negative or too large count.
struct Reader {
  ArrayRef<int64_t> numbers;
  bool isBroken = false;

  int64_t decodeNumber() {
    if (numbers.empty())
      return isBroken = true, 0;
    int64_t number = numbers.front();
    numbers = numbers.drop_front();
    return number;
  }
  int64_t decodeCount() {
    int64_t count = decodeNumber();
    if (count < 0 || count > static_cast<int64_t>(numbers.size()))
      return isBroken = true, 0;
    return count;
  }
  SmallVector<int64_t> decodeList(int64_t count) {
    SmallVector<int64_t> list;
    while (count-- > 0)
      list.push_back(decodeNumber());
    return list;
  }
  ValueSource decodeSource() {
    int64_t action = decodeNumber();
    return {action, decodeNumber()};
  }
  ValueRead decodeRead() {
    ValueRead read;
    read.shape = decodeList(decodeCount());
    for (int64_t count = decodeCount(); count > 0; --count)
      read.sources.push_back(decodeSource());
    for (int64_t count = decodeCount(); count > 0 && !isBroken; --count) {
      ElementSource element{decodeList(read.shape.size()), decodeSource(), {}};
      element.sourceIndex = decodeList(decodeCount());
      read.elements.push_back(std::move(element));
    }
    return read;
  }
};
} // namespace

template <typename List> static bool takeReads(Attribute attribute, List &reads) {
  auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
  if (!numbers)
    return false;
  Reader reader{numbers.asArrayRef()};
  while (!reader.numbers.empty() && !reader.isBroken)
    reads.push_back(reader.decodeRead());
  return !reader.isBroken;
}

static bool decodeNames(Attribute attribute, std::vector<std::string> &names) {
  auto list = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!list || !llvm::all_of(list, llvm::IsaPred<StringAttr>))
    return false;
  for (StringRef name : list.getAsValueRange<StringAttr>())
    names.push_back(name.str());
  return true;
}

std::optional<ProgramReads> braid::exec::decodeReads(Attribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  auto actions = dictionary ? dictionary.getAs<ArrayAttr>("actions") : nullptr;
  ProgramReads reads;
  if (!actions || !decodeNames(dictionary.get("arguments"), reads.arguments) ||
      !decodeNames(dictionary.get("updates"), reads.updates) || !takeReads(dictionary.get("results"), reads.results) ||
      reads.results.size() != reads.updates.size())
    return std::nullopt;
  for (Attribute action : actions)
    if (!takeReads(action, reads.actions.emplace_back()))
      return std::nullopt;
  return reads;
}

/// The verifier runs after every pass, so it leaves the check of the numbers to decodeReads.
LogicalResult braid::exec::verifyReads(Operation *op, Attribute attribute) {
  auto reads = dyn_cast<DictionaryAttr>(attribute);
  if (isa<ProgramOp>(op) && reads && reads.getAs<ArrayAttr>("actions") && reads.getAs<ArrayAttr>("arguments") &&
      reads.getAs<DenseI64ArrayAttr>("results") && reads.getAs<ArrayAttr>("updates"))
    return success();
  return op->emitOpError() << "'" << kReads
                           << "' is {actions = [array<i64: operands…>, …], arguments = [names], results = array<i64: "
                              "operands…>, updates = [names]} on an exec.program";
}
