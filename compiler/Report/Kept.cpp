//===- Kept.cpp - tensors kept from forward to backward -------------------===//
//
// The memory form shows kept tensors: an action of forward writes a reference, and an action of backward reads it. The
// location of the action holds the tensor's unit and name. So values that are recomputed, or that fusion keeps in
// registers, are not listed.
//
//===----------------------------------------------------------------------===//

#include "compiler/Report/Report.h"
#include "dialects/TG/Facts.h"
#include "lib/Memory/ContentNames.h"
#include "lib/Memory/Size.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace braid;
using namespace braid::exec;

int64_t UnitKeptValues::bytes() const {
  int64_t sum = 0;
  for (const KeptValue &value : values)
    sum += value.bytes;
  return sum;
}

int64_t KeptReport::bytes() const {
  int64_t sum = 0;
  for (const UnitKeptValues &equal : units)
    sum += equal.bytes() * equal.units.size();
  return sum;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// A value that an action of forward has written.
struct Content {
  int64_t begin, end; ///< Bytes of the range in its buffer.
  bool isRange;       ///< Whether all bytes of the range belong to the value.
  int64_t number;     ///< Index among the values that forward writes.
  StringAttr unit;
  std::string name;
  int64_t bytes;
  bool isRead = false; ///< Whether backward reads the value.
};

struct Unit {
  /// Values in the order of forward.
  std::map<int64_t, KeptValue> values;
  int64_t passedOnBytes = 0;
};

/// Visits the actions of a program in order.
class Reader {
public:
  explicit Reader(ProgramOp program);
  KeptReport report();

private:
  void read(Value ref, ArrayRef<tg::FactsAttr> readers);
  void write(ActionOpInterface action, unsigned out, tg::FactsAttr facts);
  std::string nameOf(ActionOpInterface action, unsigned out) const;

  ProgramOp program;
  ContentNames names;
  int64_t numWritten = 0;
  /// Contents of transient buffers that are neither inputs nor results.
  llvm::StringMap<std::vector<Content>> contents;
  llvm::MapVector<StringAttr, Unit> units;
};
} // namespace

static bool isForward(tg::FactsAttr facts) { return facts && facts.getPhase() == tg::Phase::Forward; }

Reader::Reader(ProgramOp program) : program(program), names(program) {
  Block &body = program.getBody().front();
  for (auto buffer : body.getOps<BufferOp>())
    if (!buffer.getIo() && !buffer.getScratch() && !buffer.getHost())
      contents.try_emplace(buffer.getSymName());
  for (auto action : body.getOps<ActionOpInterface>()) {
    OperandRange outs = action.getActionOuts();
    SmallVector<tg::FactsAttr> facts;
    for (unsigned out = 0; out < outs.size(); ++out)
      facts.push_back(tg::factsOfTensor(action.getLoc(), out, outs.size()));
    for (Value in : action.getActionIns())
      read(in, facts);
    for (unsigned out = 0; out < outs.size(); ++out)
      write(action, out, facts[out]);
  }
}

/// Records a read. An action counts as backward only if none of its results belongs to forward: a kernel that computes
/// the loss and its gradient ends forward.
void Reader::read(Value ref, ArrayRef<tg::FactsAttr> readers) {
  auto source = ref.getDefiningOp<RefOp>();
  auto found = contents.find(source.getBuffer());
  if (found == contents.end() || readers.empty())
    return;
  bool isBackward = llvm::none_of(readers, isForward);
  int64_t begin = source.getOffset(), end = begin + source.getType().getSpanBytes();
  for (Content &content : found->second) {
    if (content.end <= begin || end <= content.begin)
      continue;
    Unit &unit = units[content.unit];
    if (isBackward && !content.isRead)
      unit.values[content.number] = {content.name, content.bytes};
    content.isRead |= isBackward;
    if (!isBackward && llvm::any_of(readers, [&](tg::FactsAttr reader) {
          return isForward(reader) && tg::unitOf(reader) != content.unit;
        }))
      unit.passedOnBytes = std::max(unit.passedOnBytes, content.bytes);
  }
}

/// Returns the bytes of a reference that begins at `begin` and that overlap with `old`. For a range, counts whole
/// indices of the outermost dim. Rows that alternate with other parts are overwritten completely or not at all.
static int64_t bytesWithin(RefType type, int64_t begin, int64_t bytes, const Content &old) {
  if (!old.isRange)
    return old.begin <= begin && begin + type.getSpanBytes() <= old.end ? bytes : 0;
  for (auto [size, stride] : llvm::zip(type.getShape(), type.getStrides())) {
    int64_t step = stride * elementBytes(type.getElementType());
    if (size == 1 || step == 0)
      continue;
    auto firstBehind = [&, size = size](int64_t place) {
      return std::clamp<int64_t>(llvm::divideCeil(std::max<int64_t>(place - begin, 0), step), 0, size);
    };
    return (firstBehind(old.end) - firstBehind(old.begin)) * (bytes / size);
  }
  return old.begin <= begin && begin < old.end ? bytes : 0;
}

/// Returns the name of an out without its layer, because units with equal values are listed together.
std::string Reader::nameOf(ActionOpInterface action, unsigned out) const {
  std::string name = names.valueName(action, out);
  return name.empty() ? action.getActionName() + (out ? "#" + std::to_string(out) : "") : name;
}

void Reader::write(ActionOpInterface action, unsigned out, tg::FactsAttr facts) {
  Value ref = action.getActionOuts()[out];
  auto target = ref.getDefiningOp<RefOp>();
  auto found = contents.find(target.getBuffer());
  if (found == contents.end())
    return;
  int64_t begin = target.getOffset(), end = begin + target.getType().getSpanBytes();
  int64_t bytes = bytesOf(TypeRange(tensorOf(ref.getType())));
  // Parts with alternating rows have overlapping spans, but begin at different bytes.
  size_t before = found->second.size();
  llvm::erase_if(found->second, [&](const Content &old) {
    return (target.getType().isContiguous() && begin <= old.begin && old.end <= end) ||
           (begin == old.begin && end == old.end);
  });
  // The first write over a part of a value keeps the rest of the value.
  if (found->second.size() == before)
    llvm::erase_if(found->second, [&](Content &old) {
      old.bytes -= bytesWithin(target.getType(), begin, bytes, old);
      return old.bytes <= 0;
    });
  if (!isForward(facts) || tg::kindOf(facts))
    return;
  units.try_emplace(tg::unitOf(facts));
  found->second.push_back(
      {begin, end, target.getType().isContiguous(), numWritten++, tg::unitOf(facts), nameOf(action, out), bytes});
}

KeptReport Reader::report() {
  KeptReport report{program.getSymName().str(), {}};
  for (auto &[name, unit] : units) {
    if (unit.values.empty())
      continue;
    std::vector<KeptValue> values;
    for (auto &[number, value] : unit.values)
      values.push_back(value);
    bool isEqual = !report.units.empty() && report.units.back().values == values &&
                   report.units.back().passedOnBytes == unit.passedOnBytes;
    if (!isEqual)
      report.units.push_back({{}, unit.passedOnBytes, std::move(values)});
    report.units.back().units.push_back(name ? name.str() : "");
  }
  return report;
}

KeptReport braid::readKept(ProgramOp program) { return Reader(program).report(); }

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Returns "h.0 .. h.11 (12 units)".
static std::string nameOf(const UnitKeptValues &equal) {
  std::string first = equal.units.front().empty() ? "the root unit" : equal.units.front();
  return equal.units.size() == 1
             ? first
             : llvm::formatv("{0} .. {1} ({2} units)", first, equal.units.back(), equal.units.size()).str();
}

static void printUnits(llvm::raw_ostream &stream, const UnitKeptValues &equal) {
  auto row = [&](int64_t bytes, llvm::StringRef name) {
    std::string multiple = equal.passedOnBytes ? llvm::formatv("{0:F3} x", equal.multipleOf(bytes)).str() : "";
    stream << llvm::formatv("    {0,9} {1,14} bytes {2,10}  {3}\n", formatSize(bytes), bytes, multiple, name);
  };
  stream << "  " << nameOf(equal) << (equal.units.size() == 1 ? "" : ", each");
  if (equal.passedOnBytes)
    stream << llvm::formatv(" passes on {0} ({1} bytes) and", formatSize(equal.passedOnBytes), equal.passedOnBytes);
  stream << " keeps\n";
  for (const KeptValue &value : equal.values)
    row(value.bytes, value.name);
  row(equal.bytes(), "sum");
}

void braid::printKept(llvm::raw_ostream &stream, const KeptReport &kept) {
  if (kept.units.empty())
    return;
  int64_t sum = kept.bytes();
  stream << llvm::formatv("\nkept for backward by program {0}: {1} ({2} bytes)\n", kept.program, formatSize(sum), sum);
  for (const UnitKeptValues &equal : kept.units)
    printUnits(stream, equal);
}
