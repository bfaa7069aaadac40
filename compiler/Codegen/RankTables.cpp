//===- RankTables.cpp - mesh, groups and collectives as tables ------------===//

#include "compiler/Codegen/RankTables.h"
#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/ModelPrinter.h"
#include "dialects/Comm/Programs.h"
#include "dialects/Comm/Sharding.h"
#include "lib/Schedule/PipelineTable.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

static constexpr size_t kMaxAxes = 8; // BR_MAX_AXES

std::string codegen::suffixOf(unsigned kind) { return kind ? "_of_" + std::to_string(kind) : ""; }

//===----------------------------------------------------------------------===//
// Mesh and groups
//===----------------------------------------------------------------------===//

LogicalResult RankTables::useMesh(Operation *op, FlatSymbolRefAttr symbol) {
  if (meshName == symbol)
    return success();
  if (meshName)
    return op->emitError() << "is for the ranks of " << symbol << ", but other ops of this module are for the ranks of "
                           << meshName << "; a binary runs on one mesh";
  FailureOr<comm::Mesh> found = comm::Mesh::require(op, symbol);
  if (failed(found))
    return failure();
  if (found->getNames().size() > kMaxAxes)
    return op->emitError() << "is for a mesh of " << found->getNames().size() << " axes; the runtime supports at most "
                           << kMaxAxes;
  meshName = symbol;
  mesh = *found;
  groups.insert({comm::AxesAttr::get(op->getContext()), 0});
  return success();
}

LogicalResult RankTables::requireRanks(Operation *op, FlatSymbolRefAttr symbol) {
  if (!comm::enclosingProgram(op))
    return op->emitError() << "is in a program without 'comm.program', which has no ranks";
  return useMesh(op, symbol);
}

unsigned RankTables::groupOf(comm::AxesAttr axes) {
  auto closed = comm::AxesAttr::get(axes.getContext(), axes.getNames());
  return groups.insert({closed, static_cast<unsigned>(groups.size())}).first->second;
}

//===----------------------------------------------------------------------===//
// Kinds of ranks
//===----------------------------------------------------------------------===//

StringRef codegen::entryOf(exec::ProgramOp program) {
  StringAttr entry = comm::entryOf(program);
  return entry ? entry.getValue() : program.getSymName();
}

unsigned RankTables::kindOf(exec::ProgramOp program) const {
  comm::ProgramAttr ranks = comm::rankSubsetOf(program);
  return llvm::find_if(kinds, [&](const RankKind &kind) { return kind.ranks == ranks; }) - kinds.begin();
}

LogicalResult RankTables::addProgram(exec::ProgramOp program) {
  if (auto ranks = program->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
      ranks && failed(useMesh(program, ranks.getMesh())))
    return failure();
  unsigned kind = kindOf(program);
  if (kind == kinds.size())
    kinds.push_back({comm::rankSubsetOf(program), {}});
  if (isPipelineMessage(program))
    kinds[kind].messages.push_back(program);
  else
    kinds[kind].programs.push_back(program);
  return success();
}

/// Checks that the ranks of `other` have every program of `kind`.
static LogicalResult verifyEntries(const RankKind &kind, const RankKind &other) {
  for (exec::ProgramOp program : kind.programs)
    if (!program->hasAttr(comm::CommDialect::kCell) && llvm::none_of(other.programs, [&](exec::ProgramOp candidate) {
          return entryOf(candidate) == entryOf(program);
        }))
      return program.emitError() << "has the entry '" << entryOf(program) << "', of which the ranks of '"
                                 << exec::ProgramOp(other.programs.front()).getSymName()
                                 << "' have no program (comm.entry); add one, even if it is empty";
  return success();
}

/// Checks, if ranks run different programs, that every rank is of exactly one kind, and that all kinds have the same
/// programs.
LogicalResult RankTables::verifyKinds() const {
  if (kinds.size() == 1 && !kinds.front().ranks)
    return success();
  exec::ProgramOp first = kinds.front().programs.front();
  comm::ProgramAttr firstRanks = kinds.front().ranks;
  SmallVector<int64_t> coordinates;
  for (const RankKind &kind : kinds) {
    if (!kind.ranks || !firstRanks || kind.ranks.getAxis() != firstRanks.getAxis())
      return exec::ProgramOp(kind.programs.front()).emitError()
             << "runs on other ranks than '" << first.getSymName()
             << "'; all programs of a binary must be for all ranks, or all for some ranks along one axis";
    llvm::append_range(coordinates, kind.ranks.getCoordinates());
    if (failed(verifyEntries(kinds.front(), kind)) || failed(verifyEntries(kind, kinds.front())))
      return failure();
  }
  llvm::sort(coordinates);
  StringRef axis = firstRanks.getAxis();
  if (llvm::equal(coordinates, llvm::seq<int64_t>(0, mesh->sizeOf(firstRanks.getAxis()))))
    return success();
  return first.emitError() << "runs on some ranks along '" << axis
                           << "', but the other ranks along it do not run one program each";
}

FailureOr<RankTables> RankTables::create(ModuleOp module) {
  RankTables tables;
  if (auto ctas = module->getAttrOfType<IntegerAttr>(comm::CommDialect::kCtas))
    tables.ctas = ctas.getInt();
  for (auto program : module.getOps<exec::ProgramOp>())
    if (failed(tables.addProgram(program)))
      return failure();
  if (tables.kinds.empty())
    tables.kinds.push_back({{}, {}});
  if (failed(tables.verifyKinds()))
    return failure();
  return tables;
}

//===----------------------------------------------------------------------===//
// Parts of tensors
//===----------------------------------------------------------------------===//

FailureOr<TensorShard> RankTables::partOf(Operation *op, RankedTensorType type) {
  auto sharding = op->getAttrOfType<comm::ShardingAttr>(comm::CommDialect::kSharding);
  auto global = op->getAttrOfType<TypeAttr>(comm::CommDialect::kGlobal);
  auto whole = global ? cast<RankedTensorType>(global.getValue()) : type;
  TensorShard part{SmallVector<int64_t>(whole.getShape()), {}, SmallVector<int64_t>(whole.getRank(), 0), {}};
  RankedTensorType block = whole;
  if (sharding) {
    if (failed(useMesh(op, sharding.getMesh())) ||
        failed(comm::verifySharding([&] { return op->emitError(); }, *mesh, sharding, whole)))
      return failure();
    if (RankedTensorType local = comm::localType(whole, sharding, *mesh); local != type)
      return op->emitError() << "holds " << type << ", but a rank's part of " << whole << " by " << sharding << " is "
                             << local;
    for (auto [dim, axes] : llvm::enumerate(sharding.getDims()))
      part.dims[dim] = groupOf(axes);
    part.flat = groupOf(sharding.getFlat());
    part.partial = groupOf(sharding.getPartial());
    block = comm::localDimsType(whole, sharding, *mesh);
  }
  part.strides = llvm::to_vector(exec::RefType::contiguous(block).getStrides());
  return part;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static OperandRange outsOf(comm::CollectiveOpInterface op) {
  return cast<exec::ActionOpInterface>(op.getOperation()).getActionOuts();
}

/// Returns the number of rows of the tensor [rows, n, …] whose blocks lie along `dims[tensor]`; 1 if the tensor is not
/// sharded.
static int64_t rowsBeforeDim(ArrayRef<int64_t> dims, unsigned tensor, ArrayRef<int64_t> shape) {
  if (dims.empty() || dims[tensor] == comm::kFlat)
    return 1;
  return ShapedType::getNumElements(shape.take_front(dims[tensor]));
}

/// Checks that operands and outs of collectives are contiguous and have one element type.
static LogicalResult verifyPlaces(comm::CollectiveOpInterface op) {
  Type element;
  for (auto [what, places] : {std::pair("operand", op.getSent()), std::pair("out", outsOf(op))})
    for (auto [i, place] : llvm::enumerate(places)) {
      auto type = cast<exec::RefType>(place.getType());
      if (!type.isContiguous())
        return op->emitError() << "has the strided " << what << " " << i << " of type " << type
                               << "; a collective needs contiguous places";
      if (element && type.getElementType() != element)
        return op->emitError() << "moves elements of type " << element << " and " << type.getElementType()
                               << "; a collective of a binary moves one type: use one collective for each type";
      element = type.getElementType();
    }
  return success();
}

/// Checks that no received tensor overlaps another sent or received tensor, because the tensors of a bucket move in any
/// order, and in parts.
static LogicalResult verifyNoOverlap(comm::CollectiveOpInterface op, const ArenaMap &arena) {
  struct Range {
    uint64_t begin, end;
    unsigned tensor;
  };
  auto rangesOf = [&](OperandRange places) {
    SmallVector<Range> ranges;
    for (auto [i, place] : llvm::enumerate(places)) {
      uint64_t begin = arena.offsetOf(place);
      ranges.push_back({begin, begin + cast<exec::RefType>(place.getType()).getSpanBytes(), static_cast<unsigned>(i)});
    }
    llvm::sort(ranges, [](const Range &a, const Range &b) { return a.begin < b.begin; });
    return ranges;
  };
  auto action = cast<exec::ActionOpInterface>(op.getOperation());
  SmallVector<Range> outs = rangesOf(outsOf(op));
  for (auto [out, next] : llvm::zip(outs, llvm::drop_begin(outs)))
    if (next.begin < out.end)
      return op->emitError() << "receives outs " << out.tensor << " and " << next.tensor << " in places that overlap";
  for (const Range &in : rangesOf(op.getSent()))
    // Outs do not overlap, so their ends are sorted, too.
    for (auto out = llvm::partition_point(outs, [&](const Range &o) { return o.end <= in.begin; });
         out != outs.end() && out->begin < in.end; ++out)
      if (out->begin != in.begin || out->end != in.end || !action.mayWriteInPlace(out->tensor, in.tensor))
        return op->emitError() << "receives out " << out->tensor << " over operand " << in.tensor << ", which it sends";
  return success();
}

/// Returns the initializer of a br_segment_desc.
FailureOr<std::string> RankTables::segmentText(comm::CollectiveOpInterface op, unsigned tensor, const ArenaMap &arena) {
  // A rank that only sends, or only receives, has one place; the other one is not read.
  OperandRange sends = op.getSent(), receives = outsOf(op);
  Value sent = (sends.empty() ? receives : sends)[tensor], received = (receives.empty() ? sends : receives)[tensor];
  auto sentType = exec::tensorOf(sent.getType()), receivedType = exec::tensorOf(received.getType());
  // Dims before the sharded one have the same size in a block as in the whole tensor.
  int64_t sentRows = rowsBeforeDim(op.getSentDims(), tensor, sentType.getShape());
  int64_t receivedRows = rowsBeforeDim(op.getReceivedDims(), tensor, receivedType.getShape());
  if (std::max(sentRows, receivedRows) > INT32_MAX)
    return op->emitError() << "splits tensor " << tensor << " into more rows than fit in 32 bits";
  // The whole tensor is the sent or the received one; both are equal if the tensor is not split.
  int64_t count = std::max(sentType.getNumElements(), receivedType.getNumElements());
  if (ArrayRef<int64_t> dims = sends.empty() ? op.getSentDims() : op.getReceivedDims();
      (sends.empty() || receives.empty()) && !dims.empty()) {
    // The rank has a block, and another rank has the whole tensor.
    if (dims[tensor] == comm::kFlat)
      return op->emitError() << "has a flat range of a tensor whose size only the root knows; split it along a dim";
    count *= sizeOf(op.getAxes());
  }
  Initializer segment;
  segment.always("send", arena.offsetOf(sent)).always("recv", arena.offsetOf(received)).always("count", count);
  segment.always("send_rows", sentRows).always("recv_rows", receivedRows);
  segment.addUnlessZero("send_slots", arena.slotsOf(sent)).addUnlessZero("recv_slots", arena.slotsOf(received));
  return segment.text(4) + ", // " + commentText(arena.nameOf(received));
}

FailureOr<unsigned> RankTables::add(comm::CollectiveOpInterface op, const ArenaMap &arena) {
  if (failed(requireRanks(op, op.getMeshAttr())) || failed(verifyPlaces(op)) || failed(verifyNoOverlap(op, arena)))
    return failure();
  unsigned kind = kindOf(op->getParentOfType<exec::ProgramOp>()), number = kinds[kind].collectives.size();
  std::string &parts = kinds[kind].parts, segments, pairs;
  OperandRange places = op.getSent().empty() ? outsOf(op) : op.getSent();
  if (!places.empty()) {
    segments = "segments_" + std::to_string(number) + suffixOf(kind);
    parts += "static const br_segment_desc " + segments + "[] = {\n";
    for (unsigned tensor = 0; tensor < places.size(); ++tensor) {
      FailureOr<std::string> text = segmentText(op, tensor, arena);
      if (failed(text))
        return failure();
      parts += "    " + *text + "\n";
    }
    parts += "};\n";
  }
  if (!op.getPairs().empty()) {
    pairs = "pairs_" + std::to_string(number) + suffixOf(kind);
    parts += "static const int32_t " + pairs + "[] = " + listText(op.getPairs()) + ";\n";
  }
  Initializer row;
  row.always("kind", "BR_" + op->getName().stripDialect().upper());
  if (std::optional<comm::Reduction> reduction = op.getReductionKind())
    row.always("reduction", "BR_" + comm::stringifyReduction(*reduction).upper());
  Type element = places.empty() ? Type(IntegerType::get(op->getContext(), 1))
                                : exec::tensorOf(places.front().getType()).getElementType();
  row.always("dtype", dtypeText(element)).always("group", groupOf(op.getAxes()));
  if (std::optional<int64_t> root = op.getRootRank() ? op.getRootRank() : op.getPeerRank())
    row.always("root", *root);
  row.rows("pairs", pairs, "n_pairs", op.getPairs().size() / 2).rows("segments", segments, "n_segments", places.size());
  kinds[kind].collectives.push_back(row.text(4));
  return number;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string RankTables::arraysText() const {
  if (!mesh)
    return "";
  std::string text = "static const br_axis mesh[] = {\n";
  for (auto [name, size] : llvm::zip(mesh->getNames(), mesh->getSizes()))
    text += "    " + Initializer().always("name", stringLiteral(name)).always("size", size).text(4) + ",\n";
  text += "};\n\n// the axes along which its ranks differ\nstatic const br_group groups[] = {\n";
  for (auto [axes, number] : groups) {
    SmallVector<int64_t> places = llvm::map_to_vector(axes.getNames(), [&](StringAttr axis) {
      return llvm::find(mesh->getNames(), axis) - mesh->getNames().begin();
    });
    Initializer row;
    row.always("n_axes", places.size());
    if (!places.empty())
      row.always("axes", listText(places));
    text += "    " + row.text(4) + ", // " + std::to_string(number) + ": " + commentText(axes.str()) + "\n";
  }
  return text + "};\n\n";
}

std::string RankTables::arraysText(unsigned kind) const {
  const RankKind &of = kinds[kind];
  std::string text;
  if (hasOtherKinds())
    text +=
        "static const int32_t coordinates" + suffixOf(kind) + "[] = " + listText(of.ranks.getCoordinates()) + ";\n\n";
  if (of.collectives.empty())
    return text;
  text += "// of each tensor: where it is sent from and received, elements of the whole,\n"
          "// rows of blocks in what is sent and received\n" +
          of.parts + "\nstatic const br_collective_desc collectives" + suffixOf(kind) + "[] = {\n";
  for (auto [number, row] : llvm::enumerate(of.collectives))
    text += "    " + row + ", // " + std::to_string(number) + "\n";
  return text + "};\n\n";
}

void RankTables::addArrays(unsigned kind, Initializer &model) const {
  model.newLine().rows("mesh", "mesh", "n_axes", mesh ? mesh->getNames().size() : 0);
  model.newLine().rows("groups", "groups", "n_groups", groups.size());
  model.newLine().rows("collectives", "collectives" + suffixOf(kind), "n_collectives", kinds[kind].collectives.size());
  model.addUnlessZero("comm_ctas", ctas);
}

void RankTables::addRanks(unsigned kind, Initializer &model) const {
  if (!hasOtherKinds())
    return;
  comm::ProgramAttr ranks = kinds[kind].ranks;
  model.newLine().always("axis", placeOf(ranks.getAxis()));
  model.newLine().rows("coordinates", "coordinates" + suffixOf(kind), "n_coordinates", ranks.getCoordinates().size());
  if (kind + 1 != kinds.size())
    model.newLine().always("others", "&model" + suffixOf(kind + 1));
}
