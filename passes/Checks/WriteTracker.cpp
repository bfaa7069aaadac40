//===- WriteTracker.cpp - track writes and reads of all bytes -------------===//

#include "passes/Checks/WriteTracker.h"
#include "lib/Memory/Persistent.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

/// End of each message about a plan that does not compute its program.
static constexpr StringLiteral kInternalErrorNote =
    "; this is an error in Braid, not in your program: please report it with the command line and the input";

static std::string bytesText(int64_t begin, int64_t end, const ArenaRange &range) {
  return ("bytes " + Twine(begin) + " to " + Twine(end) + " of '" + range.name + "'").str();
}

static RangeAccess accessAt(ArenaRange *range, Type type, int64_t offset) {
  RefType ref = RefType::contiguous(cast<RankedTensorType>(type));
  return {range, ref, ByteRanges(ref, offset)};
}

//===----------------------------------------------------------------------===//
// Expected reads
//===----------------------------------------------------------------------===//

void WriteTracker::findArguments(ArrayRef<ArenaRange *> ranges) {
  std::vector<RangeAccess> inputs;
  SymbolTable symbols(program->getParentOp());
  llvm::StringSet<> updated;
  if (reads)
    updated.insert(reads->updates.begin(), reads->updates.end());
  for (ArenaRange *range : ranges) {
    auto addTensor = [&](TensorOp tensor, int64_t offset) {
      RangeAccess access = accessAt(range, tensor.getType(), offset);
      tensors.insert({nameOf(tensor), {tensor, access}});
      if (reads && !updated.contains(nameOf(tensor)))
        kept[range].push_back({tensor, access});
    };
    if (auto tensor = dyn_cast<TensorOp>(range->op))
      addTensor(tensor, 0);
    if (auto pack = dyn_cast<PackOp>(range->op))
      for (auto member : pack.getTensors().getAsRange<FlatSymbolRefAttr>()) {
        if (auto tensor = symbols.lookup<TensorOp>(member.getValue()))
          addTensor(tensor, tensor.getBegin() - range->offset);
      }
    auto buffer = dyn_cast<BufferOp>(range->op);
    if (!buffer || !buffer.getType())
      continue;
    if (buffer.getIo() == "input")
      inputs.push_back(accessAt(range, *buffer.getType(), 0));
    else if (buffer.getIo() == "result")
      results.push_back({buffer, accessAt(range, *buffer.getType(), 0)});
  }
  size_t input = 0;
  for (const std::string &name : reads ? reads->arguments : std::vector<std::string>()) {
    auto tensor = tensors.find(name);
    bool isInput = name.empty() && input < inputs.size();
    arguments.push_back(isInput                   ? std::optional(inputs[input++])
                        : tensor != tensors.end() ? std::optional(tensor->second.second)
                                                  : std::nullopt);
  }
}

bool WriteTracker::fits(const ValueRead &read, RefType type) const {
  auto isKnown = [&](ValueSource source) {
    if (source.action == -1)
      return source.number >= 0 && source.number < static_cast<int64_t>(arguments.size()) &&
             arguments[source.number].has_value();
    return source.action >= 0 && source.action + 1 < static_cast<int64_t>(firstWriter.size()) && source.number >= 0 &&
           firstWriter[source.action] + source.number < firstWriter[source.action + 1];
  };
  auto isElement = [&](const ElementSource &element) {
    return isKnown(element.source) && element.sourceIndex.size() == accessOf(element.source)->type.getShape().size();
  };
  auto isWithin = [](auto sizes) { return std::get<0>(sizes) >= 1 && std::get<0>(sizes) <= std::get<1>(sizes); };
  return read.shape.size() == type.getShape().size() &&
         llvm::all_of(llvm::zip(read.shape, type.getShape()), isWithin) && llvm::all_of(read.sources, isKnown) &&
         !read.sources.empty() && llvm::all_of(read.elements, isElement) &&
         (!read.elements.empty() || accessOf(read.sources.front())->type.getShape().size() == type.getShape().size());
}

LogicalResult WriteTracker::checkRecord() {
  SmallVector<ActionOpInterface> actions(program.getBody().front().getOps<ActionOpInterface>());
  bool isRight = reads && reads->actions.size() == actions.size();
  for (size_t time = 0; isRight && time < actions.size(); ++time) {
    ActionOpInterface action = actions[time];
    size_t expected = action.getActionBegin() == action ? action.getActionIns().size() : 0;
    isRight = reads->actions[time].size() == expected;
    for (size_t in = 0; isRight && in < expected; ++in)
      isRight = fits(reads->actions[time][in], accesses.at(action.getActionIns()[in]).type);
  }
  size_t result = 0;
  for (size_t index = 0; isRight && index < reads->results.size(); ++index) {
    auto tensor = tensors.find(reads->updates[index]);
    bool isUpdate = !reads->updates[index].empty();
    isRight = isUpdate ? tensor != tensors.end() : result < results.size();
    if (!isRight)
      break;
    RefType type = isUpdate ? tensor->second.second.type : results[result++].second.type;
    isRight = fits(reads->results[index], type) && ArrayRef(reads->results[index].shape) == type.getShape();
  }
  if (isRight && result == results.size())
    return success();
  return program.emitOpError() << "has an '" << kReads
                               << "' that does not fit the program; unless the text was changed by hand, this is an "
                                  "error in Braid: please report it with the command line and the input";
}

LogicalResult WriteTracker::readReads(ArrayRef<ArenaRange *> ranges) {
  Attribute recorded = program->getAttr(kReads);
  if (recorded)
    reads = decodeReads(recorded);
  findArguments(ranges);
  for (auto action : program.getBody().front().getOps<ActionOpInterface>()) {
    firstWriter.push_back(writers.size());
    if (action.getActionBegin() != action)
      continue;
    firstWriterOf[action] = writers.size();
    for (unsigned out = 0; out < action.getActionOuts().size(); ++out)
      writers.push_back({action, out, !recorded});
  }
  firstWriter.push_back(writers.size());
  if (!recorded)
    return success();
  if (failed(checkRecord()))
    return failure();
  auto mark = [&](ArrayRef<ValueRead> operands) {
    for (const ValueRead &read : operands)
      for (ValueSource source : read.sources)
        if (source.action >= 0)
          writers[writerOf(source)].hasReaders = true;
  };
  for (ArrayRef<ValueRead> operands : reads->actions)
    mark(operands);
  mark(reads->results);
  return success();
}

//===----------------------------------------------------------------------===//
// Writers
//===----------------------------------------------------------------------===//

int64_t WriteTracker::writerOf(ValueSource source) const {
  return source.action < 0 ? WrittenBytes::kInitialWriter : firstWriter[source.action] + source.number;
}

const RangeAccess *WriteTracker::accessOf(ValueSource source) const {
  if (source.action < 0)
    return &*arguments[source.number];
  Writer writer = writers[writerOf(source)];
  return &accesses.find(writer.action.getActionOuts()[writer.number])->second;
}

std::string WriteTracker::describe(int64_t number) const {
  if (number < 0)
    return "the content before the first action";
  Writer writer = writers[number];
  std::string name = "'" + writer.action.getActionName() + "'";
  return writer.action.getActionOuts().size() == 1 ? "the result of " + name
                                                   : "result " + std::to_string(writer.number) + " of " + name;
}

std::string WriteTracker::describe(ValueSource source) const {
  if (source.action >= 0)
    return describe(writerOf(source));
  return "the argument of the program in '" + arguments[source.number]->range->name.str() + "'";
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

ByteRanges WriteTracker::bytesOf(const ValueRead &read, const RangeAccess &access) const {
  if (access.type.getShape() == ArrayRef(read.shape))
    return access.bytes;
  return {RefType::get(access.type.getContext(), read.shape, access.type.getElementType(), access.type.getStrides()),
          access.bytes.offset};
}

static int64_t byteOf(const RangeAccess &access, ArrayRef<int64_t> index) {
  int64_t position = 0;
  for (auto [i, stride] : llvm::zip_equal(index, access.type.getStrides()))
    position += i * stride;
  return access.bytes.offset + position * elementBytes(access.type.getElementType());
}

LogicalResult WriteTracker::checkElement(Operation *op, const Twine &verb, const RangeAccess &access,
                                         const ElementSource &element) {
  const RangeAccess &source = *accessOf(element.source);
  int64_t at = byteOf(access, element.index), expected = byteOf(source, element.sourceIndex);
  if (access.range == source.range && at == expected)
    return success();
  std::string made = describe(element.source);
  InFlightDiagnostic error = op->emitOpError();
  error << verb << " byte " << at << " of '" << access.range->name << "', but the intended element, of " << made
        << ", is byte " << expected << " of '" << source.range->name << "'" << kInternalErrorNote;
  return error;
}

/// Checks that the bytes of a read hold the value that the value form reads there.
LogicalResult WriteTracker::checkRead(Operation *op, const Twine &verb, const RangeAccess &access,
                                      const ValueRead &read) {
  SmallVector<int64_t> expected = llvm::map_to_vector(read.sources, [&](ValueSource s) { return writerOf(s); });
  auto isOther = [&](const WrittenBytes::Piece &piece) { return !llvm::is_contained(expected, piece.writer); };
  if (auto piece = written.find(access.range)->second.find(bytesOf(read, access), isOther)) {
    InFlightDiagnostic error = op->emitOpError();
    error << verb << " " << bytesText(piece->begin, piece->end, *access.range) << ", where " << describe(piece->writer)
          << " lies instead of " << describe(read.sources.front()) << kInternalErrorNote;
    if (read.sources.front().action >= 0)
      error.attachNote(writers[expected.front()].action.getLoc()) << "the intended value was written here";
    if (piece->writer >= 0)
      error.attachNote(writers[piece->writer].action.getLoc()) << "overwritten here";
    return error;
  }
  for (const ElementSource &element : read.elements)
    if (failed(checkElement(op, verb, access, element)))
      return failure();
  if (!read.elements.empty())
    return success();
  SmallVector<int64_t> first(read.shape.size(), 0), last;
  for (int64_t size : read.shape)
    last.push_back(size - 1);
  return failure(failed(checkElement(op, verb, access, {first, read.sources.front(), first})) ||
                 failed(checkElement(op, verb, access, {last, read.sources.front(), last})));
}

LogicalResult WriteTracker::read(ActionOpInterface action) {
  int64_t time = next++;
  if (action.getActionBegin() != action)
    return success();
  for (auto [index, in] : llvm::enumerate(action.getActionIns())) {
    const RangeAccess &access = accesses.find(in)->second;
    WrittenBytes &bytes = written.find(access.range)->second;
    if (int64_t byte = bytes.firstUnwritten(access.bytes); byte >= 0)
      return action.emitOpError() << "reads byte " << byte << " of '" << access.range->name << "' as operand " << index
                                  << ", but no action before has written it";
    if (reads && failed(checkRead(action, "reads as operand " + Twine(index), access, reads->actions[time][index])))
      return failure();
    bytes.read(access.bytes);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// Rejects writes to tensors that the program does not update.
LogicalResult WriteTracker::checkKept(ActionOpInterface action, const RangeAccess &access) {
  auto found = kept.find(access.range);
  if (found == kept.end())
    return success();
  for (auto &[tensor, place] : found->second)
    if (overlap(place.bytes, access.bytes))
      return action.emitOpError() << "writes " << bytesText(access.bytes.offset, access.bytes.end(), *access.range)
                                  << ", which belong to '" << nameOf(tensor) << "', but the program does not update it"
                                  << kInternalErrorNote;
  return success();
}

/// A result without readers may be overwritten.
LogicalResult WriteTracker::write(ActionOpInterface begun) {
  int64_t first = firstWriterOf.lookup(begun);
  for (auto [index, out] : llvm::enumerate(begun.getActionOuts())) {
    const RangeAccess &access = accesses.find(out)->second;
    if (failed(checkKept(begun, access)))
      return failure();
    WrittenBytes &bytes = written.find(access.range)->second;
    auto isLost = [&](const WrittenBytes::Piece &piece) {
      return piece.writer >= 0 && !piece.isRead && writers[piece.writer].hasReaders;
    };
    if (auto piece = bytes.find(access.bytes, isLost)) {
      InFlightDiagnostic error = begun->emitOpError();
      error << "writes out " << index << " to " << bytesText(piece->begin, piece->end, *access.range) << ", where "
            << describe(piece->writer) << " lies and has not been read" << kInternalErrorNote;
      error.attachNote(writers[piece->writer].action.getLoc()) << "written here";
      return error;
    }
    bytes.write(access.bytes, first + index);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Beginning and end
//===----------------------------------------------------------------------===//

LogicalResult WriteTracker::start(ArrayRef<ArenaRange *> ranges) {
  if (failed(readReads(ranges)))
    return failure();
  DenseMap<ArenaRange *, SmallVector<ByteRanges>> used;
  for (auto &[value, access] : accesses)
    used[access.range].push_back(access.bytes);
  for (auto &[buffer, access] : results)
    used[access.range].push_back(access.bytes);
  for (StringRef name : reads ? ArrayRef(reads->updates) : ArrayRef<std::string>())
    if (auto tensor = tensors.find(name); tensor != tensors.end())
      used[tensor->second.second.range].push_back(tensor->second.second.bytes);
  if (reads)
    for (auto [operands, action] :
         llvm::zip_equal(reads->actions, program.getBody().front().getOps<ActionOpInterface>()))
      for (auto [read, in] : llvm::zip(operands, action.getActionIns()))
        used[accesses.at(in).range].push_back(bytesOf(read, accesses.at(in)));
  for (ArenaRange *range : ranges) {
    auto buffer = dyn_cast<BufferOp>(range->op);
    SmallVector<ByteRanges> &all = used[range];
    WrittenBytes &bytes = written.insert({range, WrittenBytes(all)}).first->second;
    if (!buffer || buffer.getIo() == "input")
      for (const ByteRanges &given : all)
        bytes.write(given);
  }
  return success();
}

LogicalResult WriteTracker::finish() {
  if (!reads)
    return success();
  size_t result = 0;
  for (auto [read, name] : llvm::zip_equal(reads->results, reads->updates)) {
    bool isUpdate = !name.empty();
    Operation *op = isUpdate ? tensors.find(name)->second.first.getOperation() : results[result].first;
    const RangeAccess &access = isUpdate ? tensors.find(name)->second.second : results[result++].second;
    if (failed(checkRead(op, isUpdate ? "gets as its new value" : "gives the caller", access, read)))
      return failure();
  }
  return success();
}
