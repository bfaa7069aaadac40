//===- RankTables.cpp - mesh, groups and collectives as tables ------------===//

#include "lib/Codegen/RankTables.h"
#include "dialects/Comm/Sharding.h"
#include "lib/Codegen/CppText.h"
#include "lib/Codegen/ModelPrinter.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

static constexpr size_t kMaxAxes = 8; // BR_MAX_AXES

//===----------------------------------------------------------------------===//
// Mesh and groups
//===----------------------------------------------------------------------===//

LogicalResult RankTables::useMesh(Operation *op, FlatSymbolRefAttr symbol) {
  if (meshName == symbol)
    return success();
  if (meshName)
    return op->emitError() << "is for the ranks of " << symbol << ", but others of this module are for those of "
                           << meshName << "; a binary runs on one mesh";
  FailureOr<comm::Mesh> found = comm::Mesh::require(op, symbol);
  if (failed(found))
    return failure();
  if (found->getNames().size() > kMaxAxes)
    return op->emitError() << "is for a mesh of " << found->getNames().size() << " axes; the runtime takes "
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

FailureOr<RankTables> RankTables::create(ModuleOp module) {
  RankTables tables;
  for (auto program : module.getOps<exec::ProgramOp>()) {
    auto ranks = program->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
    if (ranks && ranks.getAxis())
      return program.emitError() << "runs on the ranks with some coordinates along '" << ranks.getAxis().getValue()
                                 << "' alone, but all ranks of a binary run the same programs; braid-interp runs it";
    if (ranks && failed(tables.useMesh(program, ranks.getMesh())))
      return failure();
  }
  return tables;
}

unsigned RankTables::groupOf(comm::AxesAttr axes) {
  auto closed = comm::AxesAttr::get(axes.getContext(), axes.getNames());
  return groups.insert({closed, static_cast<unsigned>(groups.size())}).first->second;
}

//===----------------------------------------------------------------------===//
// Parts of tensors
//===----------------------------------------------------------------------===//

FailureOr<PartOfTensor> RankTables::partOf(Operation *op, RankedTensorType type) {
  auto sharding = op->getAttrOfType<comm::ShardingAttr>(comm::CommDialect::kSharding);
  auto global = op->getAttrOfType<TypeAttr>(comm::CommDialect::kGlobal);
  auto whole = global ? cast<RankedTensorType>(global.getValue()) : type;
  PartOfTensor part{SmallVector<int64_t>(whole.getShape()), {}, SmallVector<int64_t>(whole.getRank(), 0)};
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

/// Rows of the tensor [rows, n, …] whose blocks lie along `dims[tensor]`; 1 where
/// it is not cut.
static int64_t rowsOfCut(ArrayRef<int64_t> dims, unsigned tensor, ArrayRef<int64_t> shape) {
  if (dims.empty() || dims[tensor] == comm::kFlat)
    return 1;
  return ShapedType::getNumElements(shape.take_front(dims[tensor]));
}

/// The operands and outs of collectives are contiguous and of one type.
static LogicalResult verifyPlaces(comm::CollectiveOpInterface op) {
  Type element;
  for (auto [what, places] : {std::pair("operand", op.getSent()), std::pair("out", outsOf(op))})
    for (auto [i, place] : llvm::enumerate(places)) {
      auto type = cast<exec::RefType>(place.getType());
      if (!type.isContiguous())
        return op->emitError() << "has the strided " << what << " " << i << " of type " << type
                               << "; a collective takes contiguous places";
      if (element && type.getElementType() != element)
        return op->emitError() << "moves elements of type " << element << " and " << type.getElementType()
                               << "; a collective of a binary moves one type: make it one collective for each";
      element = type.getElementType();
    }
  return success();
}

/// Nothing is received where something else is sent or received: tensors of a
/// bucket move in any order, and in parts.
static LogicalResult verifyApart(comm::CollectiveOpInterface op, const ArenaMap &arena) {
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
    // Outs do not overlap, so their ends are in order, too.
    for (auto out = llvm::partition_point(outs, [&](const Range &o) { return o.end <= in.begin; });
         out != outs.end() && out->begin < in.end; ++out)
      if (out->begin != in.begin || out->end != in.end || !action.mayWriteInPlace(out->tensor, in.tensor))
        return op->emitError() << "receives out " << out->tensor << " over operand " << in.tensor << ", which it sends";
  return success();
}

/// Initializer of a br_segment_desc.
FailureOr<std::string> RankTables::segmentText(comm::CollectiveOpInterface op, unsigned tensor, const ArenaMap &arena) {
  Value sent = op.getSent()[tensor], received = outsOf(op)[tensor];
  auto sentType = exec::tensorOf(sent.getType()), receivedType = exec::tensorOf(received.getType());
  int64_t sentRows = rowsOfCut(op.getSentDims(), tensor, sentType.getShape());
  int64_t receivedRows = rowsOfCut(op.getReceivedDims(), tensor, receivedType.getShape());
  if (std::max(sentRows, receivedRows) > INT32_MAX)
    return op->emitError() << "cuts tensor " << tensor << " in more rows than the runtime counts";
  // The whole is what is sent or what is received; neither is larger where nothing is cut.
  int64_t count = std::max(sentType.getNumElements(), receivedType.getNumElements());
  return "{" + std::to_string(arena.offsetOf(sent)) + ", " + std::to_string(arena.offsetOf(received)) + ", " +
         std::to_string(count) + ", " + std::to_string(sentRows) + ", " + std::to_string(receivedRows) + "}, // " +
         arena.nameOf(received).str();
}

FailureOr<unsigned> RankTables::add(comm::CollectiveOpInterface op, const ArenaMap &arena) {
  if (failed(requireRanks(op, op.getMeshAttr())) || failed(verifyPlaces(op)) || failed(verifyApart(op, arena)))
    return failure();
  if (op.getSent().size() != outsOf(op).size())
    return op->emitError() << "sends " << op.getSent().size() << " tensors and receives " << outsOf(op).size()
                           << ", but all ranks of a binary run the same programs and do both";
  unsigned number = collectives.size();
  std::string segments = "nullptr", pairs = "nullptr";
  if (!op.getSent().empty()) {
    segments = "segments_" + std::to_string(number);
    parts += "static const br_segment_desc " + segments + "[] = {\n";
    for (unsigned tensor = 0; tensor < op.getSent().size(); ++tensor) {
      FailureOr<std::string> text = segmentText(op, tensor, arena);
      if (failed(text))
        return failure();
      parts += "    " + *text + "\n";
    }
    parts += "};\n";
  }
  if (!op.getPairs().empty()) {
    pairs = "pairs_" + std::to_string(number);
    parts += "static const int32_t " + pairs + "[] = " + listText(op.getPairs()) + ";\n";
  }
  StringRef kind = op->getName().stripDialect();
  std::string reduction = comm::stringifyReduction(op.getReductionKind().value_or(comm::Reduction::Sum)).upper();
  Type element = op.getSent().empty() ? Type(IntegerType::get(op->getContext(), 1))
                                      : exec::tensorOf(op.getSent().front().getType()).getElementType();
  collectives.push_back("{BR_" + kind.upper() + ", BR_" + reduction + ", " + dtypeText(element) + ", " +
                        std::to_string(groupOf(op.getAxes())) + ", " +
                        std::to_string(op.getRootRank().value_or(op.getPeerRank().value_or(0))) + ", " + pairs + ", " +
                        std::to_string(op.getPairs().size() / 2) + ", " + segments + ", " +
                        std::to_string(op.getSent().size()) + "}");
  return number;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string RankTables::arraysText() const {
  if (!mesh)
    return "";
  std::string text = "static const br_axis mesh[] = {";
  for (auto [i, name, size] : llvm::enumerate(mesh->getNames(), mesh->getSizes()))
    text += (i ? ", {" : "{") + stringLiteral(name) + ", " + std::to_string(size) + "}";
  text += "};\n\n// how many axes, which; ranks that differ in these alone\nstatic const br_group groups[] = {\n";
  for (auto [axes, number] : groups) {
    SmallVector<int64_t> places = llvm::map_to_vector(axes.getNames(), [&](StringAttr axis) {
      return llvm::find(mesh->getNames(), axis) - mesh->getNames().begin();
    });
    text += "    {" + std::to_string(places.size()) + ", " + listText(places) + "}, // " + std::to_string(number) +
            ": " + axes.str() + "\n";
  }
  text += "};\n\n";
  if (collectives.empty())
    return text;
  text += "// of each tensor: where it is sent from and received, elements of the whole,\n"
          "// rows of blocks in what is sent and received\n" +
          parts +
          "\n// kind, reduction, type, group, root or peer, pairs, tensors\n"
          "static const br_collective_desc collectives[] = {\n";
  for (auto [number, row] : llvm::enumerate(collectives))
    text += "    " + row + ", // " + std::to_string(number) + "\n";
  return text + "};\n\n";
}

std::string RankTables::fieldsText() const {
  auto field = [](StringRef label, StringRef array, size_t size) {
    return "    /*" + label.str() + "=*/" + (size ? array.str() : "nullptr") + ", " + std::to_string(size) + ",\n";
  };
  return field("mesh", "mesh", mesh ? mesh->getNames().size() : 0) + field("groups", "groups", groups.size()) +
         field("collectives", "collectives", collectives.size());
}
