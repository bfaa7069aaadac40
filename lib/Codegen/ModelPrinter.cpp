//===- ModelPrinter.cpp - the tables that the runtime reads ---------------===//

#include "lib/Codegen/ModelPrinter.h"
#include "dialects/Comm/Programs.h"
#include "dialects/TG/TG.h"
#include "lib/Codegen/CppText.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

static constexpr int64_t kMaxRank = 8; // BR_MAX_RANK

std::string codegen::dtypeText(Type element) {
  if (element.isF64())
    return "BR_F64";
  if (element.isF32())
    return "BR_F32";
  if (element.isBF16())
    return "BR_BF16";
  if (element.isInteger(32))
    return "BR_I32";
  if (element.isInteger(64))
    return "BR_I64";
  return "BR_I1";
}

//===----------------------------------------------------------------------===//
// Persistent tensors
//===----------------------------------------------------------------------===//

static std::string initText(tg::InitAttr init) {
  double a = init.getA().convertToDouble(), b = init.getB().convertToDouble();
  double scale = init.getLayers() > 0 ? 1.0 / std::sqrt(2.0 * init.getLayers()) : 1.0;
  StringRef kind;
  switch (init.getKind()) {
  case tg::InitKind::Zeros:
    kind = "BR_INIT_ZEROS";
    break;
  case tg::InitKind::Ones:
    kind = "BR_INIT_ONES";
    break;
  case tg::InitKind::Constant:
    kind = "BR_INIT_CONSTANT";
    break;
  case tg::InitKind::Normal:
    kind = "BR_INIT_NORMAL";
    b *= scale;
    break;
  case tg::InitKind::Uniform:
    kind = "BR_INIT_UNIFORM";
    a *= scale;
    b *= scale;
    break;
  }
  return kind.str() + ", " + doubleLiteral(a) + ", " + doubleLiteral(b);
}

static StringRef categoryText(exec::Category category) {
  switch (category) {
  case exec::Category::Parameters:
    return "BR_PARAMETERS";
  case exec::Category::Gradients:
    return "BR_GRADIENTS";
  case exec::Category::OptimizerState:
    return "BR_OPTIMIZER_STATE";
  default:
    llvm_unreachable("a tensor that lives across programs has another category");
  }
}

static LogicalResult printTensor(exec::TensorOp op, unsigned stream, RankTables &ranks, llvm::raw_ostream &os) {
  auto type = cast<RankedTensorType>(op.getType());
  auto param = dyn_cast<tg::ParamAttr>(op.getValue());
  auto state = dyn_cast<tg::StateAttr>(op.getValue());
  if (!param && !state)
    return op.emitError() << "persistent tensor is neither #tg.param nor #tg.state";
  StringRef name = param ? param.getName() : state.getName();
  StringAttr copyOf = param ? param.getCopyOf() : StringAttr();
  bool transposed = param ? param.getTransposed() : state.getTransposed();
  if (type.getRank() > kMaxRank)
    return op.emitError() << "'" << name << "' has " << type.getRank() << " dims; the runtime takes " << kMaxRank;

  FailureOr<PartOfTensor> part = ranks.partOf(op, type);
  if (failed(part))
    return failure();
  auto sharding = op->getAttrOfType<comm::ShardingAttr>(comm::CommDialect::kSharding);
  if (sharding && sharding.isPartial() && sharding.getReduction() != comm::Reduction::Sum)
    return op.emitError() << "'" << name << "' is the " << comm::stringifyReduction(sharding.getReduction()) << " over "
                          << sharding.getPartial().str() << " of what ranks hold; only sums live across programs";
  if (transposed)
    for (SmallVector<int64_t> *list : {&part->shape, &part->strides, &part->dims})
      std::swap((*list)[0], (*list)[1]);
  os << "    {" << stringLiteral(name) << ", " << categoryText(op.getCategory()) << ", "
     << dtypeText(type.getElementType()) << ", " << part->shape.size() << ", " << listText(part->shape) << ", "
     << listText(part->strides) << ",\n     " << op.getOffset() << ", "
     << type.getNumElements() * elementBytes(type.getElementType()) << ", "
     << initText(param ? param.getInit() : state.getInit()) << ", " << stream << ", "
     << (copyOf || (state && state.isAccumulator()) ? 0 : 1) << ", " << listText(part->dims) << ", " << part->flat
     << ", " << part->partial << ", " << (copyOf ? stringLiteral(copyOf) : "nullptr") << "},\n";
  return success();
}

/// The tensor as checkpoints of every layout have it; empty for one that they leave out.
static FailureOr<std::string> savedText(exec::TensorOp op, RankTables &ranks) {
  auto param = dyn_cast<tg::ParamAttr>(op.getValue());
  auto state = dyn_cast<tg::StateAttr>(op.getValue());
  if (param ? static_cast<bool>(param.getCopyOf()) : state && state.isAccumulator())
    return std::string();
  auto type = cast<RankedTensorType>(op.getType());
  FailureOr<PartOfTensor> part = ranks.partOf(op, type);
  if (failed(part))
    return failure();
  if (param ? param.getTransposed() : state && state.getTransposed())
    std::swap(part->shape[0], part->shape[1]);
  StringRef name = param ? param.getName() : state.getName();
  // Not its category: the same tensor is a parameter in f32 and a master in bf16.
  return (name + " " + dtypeText(type.getElementType()) + " " + listText(part->shape)).str();
}

/// br_model.graph_hash: the same for every mesh, batch, target and precision of the computation.
static FailureOr<uint64_t> graphHash(ModuleOp module, RankTables &ranks, StringRef optimizer) {
  std::set<std::string> lines = {optimizer.split(' ').first.str()};
  for (auto tensor : module.getOps<exec::TensorOp>()) {
    FailureOr<std::string> line = savedText(tensor, ranks);
    if (failed(line))
      return failure();
    if (!line->empty())
      lines.insert(*line);
  }
  return llvm::xxh3_64bits(llvm::join(lines, "\n"));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// What the numbers of an input may be, by its name.
using IndexRanges = llvm::StringMap<IndexedBy>;

/// Those of the graph, or of a module without one the rows that it gathers.
static IndexRanges indexRangesOf(ModuleOp module, const ArenaMap &arena, const CodegenOptions &options) {
  IndexRanges ranges;
  for (const IndexedBy &range : options.indices)
    ranges[range.input] = range;
  if (!ranges.empty())
    return ranges;
  module.walk([&](exec::GatherOp op) {
    auto buffer = dyn_cast<exec::BufferOp>(arena.storageOf(op.getIndices()));
    if (buffer && buffer.getIo() == "input")
      ranges[buffer.getName()] = {buffer.getName().str(), cast<exec::RefType>(op.getTable().getType()).getShape()[0]};
  });
  return ranges;
}

/// Rows of the table that tokens index, or 0.
static int64_t vocabularySize(ModuleOp module, const IndexRanges &ranges) {
  int64_t size = 0;
  module.walk([&](exec::BufferOp buffer) {
    if (buffer.getIo() == "input" && buffer.getRole() == tg::stringifyRole(tg::Role::Tokens))
      size = ranges.lookup(buffer.getName()).extent;
  });
  return size;
}

/// Inputs, then results: returns how many of each.
static FailureOr<std::pair<int, int>> printIos(exec::ProgramOp program, const IndexRanges &ranges, RankTables &ranks,
                                               llvm::raw_ostream &os) {
  int counts[2] = {0, 0};
  for (int wantsResult : {0, 1})
    for (auto buffer : program.getOps<exec::BufferOp>()) {
      if (!buffer.getIo() || (*buffer.getIo() == "result") != wantsResult)
        continue;
      auto type = cast<RankedTensorType>(*buffer.getType());
      if (type.getRank() > kMaxRank)
        return buffer.emitError() << "'" << buffer.getName() << "' has " << type.getRank()
                                  << " dims; the runtime takes " << kMaxRank;
      FailureOr<PartOfTensor> part = ranks.partOf(buffer, type);
      if (failed(part))
        return failure();
      IndexedBy range = wantsResult ? IndexedBy() : ranges.lookup(buffer.getName());
      os << "    {" << stringLiteral(buffer.getName()) << ", " << stringLiteral(buffer.getRole().value_or("")) << ", "
         << dtypeText(type.getElementType()) << ", " << part->shape.size() << ", " << listText(part->shape) << ", "
         << buffer.getOffset() << ", " << type.getNumElements() * elementBytes(type.getElementType()) << ", "
         << listText(part->dims) << ", " << part->flat << ", " << part->partial << ", " << range.extent << ", "
         << range.ignored << "},\n";
      ++counts[wantsResult];
    }
  return std::make_pair(counts[0], counts[1]);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// JSON as adjacent literals, an object each, so that no literal is longer than
/// compilers must take.
static std::string planText(StringRef json) {
  SmallVector<StringRef> lines;
  json.split(lines, '\n');
  std::string text, part;
  for (StringRef line : lines) {
    part += line.trim();
    if (line.trim() == "}," || line.trim() == "],") {
      text += "    " + stringLiteral(part) + "\n";
      part.clear();
    }
  }
  return text + "    " + stringLiteral(part);
}

/// Programs of many ranks have the transports that they are linked with.
static std::string mainText(const StepEmitter &emitter, bool manyRanks) {
  std::string text = "int main(int argc, char **argv) {\n  br_limit_spinning(argv);\n" + emitter.mainCalls.str();
  SmallVector<StringRef> transports;
  if (manyRanks)
    emitter.transports.split(transports, ' ');
  for (StringRef name : transports)
    text += "#ifdef BRAID_WITH_" + name.upper() + "\n  br_use_" + name.str() + "();\n#endif\n";
  return text + "  return br_main(argc, argv, &model);\n}\n";
}

namespace {
/// What a kind of ranks has: its tables, and the rows of its br_model that name them.
struct KindText {
  std::string tables;
  int64_t arenaBytes = 0;
  unsigned numTensors = 0;
};
} // namespace

static LogicalResult printTensors(ModuleOp module, const RankKind &kind, RankTables &ranks, KindText &text,
                                  StringRef suffix) {
  std::string rows;
  llvm::raw_string_ostream stream(rows);
  // Initial values do not depend on who holds which tensors, nor on what is a copy.
  llvm::StringMap<unsigned> copies;
  for (auto [number, tensor] : llvm::enumerate(module.getOps<exec::TensorOp>()))
    if (auto param = dyn_cast<tg::ParamAttr>(tensor.getValue()); param && param.getCopyOf())
      copies[param.getCopyOf()] = number;
  for (auto [place, tensor] : llvm::enumerate(module.getOps<exec::TensorOp>())) {
    if (!comm::shareRanks(comm::someRanksOf(tensor), kind.ranks))
      continue;
    text.arenaBytes = std::max<int64_t>(text.arenaBytes, tensor.getOffset() + tensor.getBytes());
    auto copy = copies.find(tensor.getSymName());
    if (failed(printTensor(tensor, copy == copies.end() ? place : copy->second, ranks, stream)))
      return failure();
    ++text.numTensors;
  }
  if (text.numTensors)
    text.tables +=
        "// name, category, type, rank, logical shape, strides in the arena,\n"
        "// offset, bytes, initial values, stream, in checkpoints, groups that shard it\n// and that it is a "
        "sum over, what it is a copy of\nstatic const br_tensor tensors" +
        suffix.str() + "[] = {\n" + rows + "};\n\n";
  return success();
}

/// The names of a program's actions.
static std::string actionsText(StringRef table, ArrayRef<std::string> actions) {
  std::string text = "static const char *const " + table.str() + "[] = {\n";
  for (const std::string &action : actions)
    text += "    " + stringLiteral(action) + ",\n";
  return text + "};\n";
}

static LogicalResult printPrograms(const RankKind &kind, const StepPrinter &steps, const IndexRanges &ranges,
                                   RankTables &ranks, KindText &text, StringRef suffix) {
  std::string ios, actions, programs;
  for (exec::ProgramOp program : kind.programs) {
    std::string table = identifier(program.getSymName()) + "_ios", rows;
    llvm::raw_string_ostream rowStream(rows);
    FailureOr<std::pair<int, int>> counts = printIos(program, ranges, ranks, rowStream);
    if (failed(counts))
      return failure();
    bool any = counts->first + counts->second > 0;
    if (any)
      ios += "static const br_io " + table + "[] = {\n" + rows + "};\n";
    ArrayRef<std::string> its = steps.actionsOf(program);
    std::string actionTable = identifier(program.getSymName()) + "_actions";
    if (!its.empty())
      actions += actionsText(actionTable, its);
    programs += "    {" + stringLiteral(entryOf(program)) + ", braid::" + programFunction(program.getSymName()) + ", " +
                (any ? table : "nullptr") + ", " + std::to_string(counts->first) + ", " +
                std::to_string(counts->second) + ", " + (its.empty() ? "nullptr" : actionTable) + ", " +
                std::to_string(its.size()) + "},\n";
    text.arenaBytes = std::max<int64_t>(text.arenaBytes, program.getArenaBytes());
  }
  if (!ios.empty())
    text.tables += "// name, role, type, rank, shape, offset, bytes, groups that shard it and\n"
                   "// that it is a sum over, what it indexes and ignores; inputs before results\n" +
                   ios + "\n";
  if (!actions.empty())
    text.tables += "// what each action is\n" + actions + "\n";
  text.tables += "// name, function, inputs and results, how many of each, actions\nstatic const br_program programs" +
                 suffix.str() + "[] = {\n" + programs + "};\n\n";
  return success();
}

/// The descriptors of library calls, of a type `br_NAME_desc`, as the table `NAMEs`.
static std::string callsText(StringRef name, ArrayRef<std::string> rows, StringRef suffix) {
  if (rows.empty())
    return "";
  return ("static const br_" + name + "_desc " + name + "s" + suffix + "[] = {\n").str() + llvm::join(rows, "\n") +
         "\n};\n\n";
}

FailureOr<std::string> codegen::printModel(ModuleOp module, const StepPrinter &steps, RankTables &ranks,
                                           const CodegenOptions &options) {
  bool manyRanks = !module.getOps<comm::MeshOp>().empty();
  IndexRanges ranges = indexRangesOf(module, ArenaMap(module), options);
  SmallVector<KindText> kinds(ranks.getKinds().size());
  for (auto [number, kind, text] : llvm::enumerate(ranks.getKinds(), kinds))
    if (failed(printTensors(module, kind, ranks, text, suffixOf(number))) ||
        failed(printPrograms(kind, steps, ranges, ranks, text, suffixOf(number))))
      return failure();
  FailureOr<uint64_t> hash = graphHash(module, ranks, options.optimizer);
  if (failed(hash))
    return failure();

  std::string text;
  llvm::raw_string_ostream os(text);
  os << "// The tables that the runtime reads, and main.\n"
        "#include \"braid_rt.h\"\n#include \""
     << steps.getEmitter().modelInclude << "\"\n#include \"step.h\"\n"
     << (manyRanks ? "#include \"comm/transports.h\"\n\n" : "\n");
  if (llvm::any_of(llvm::seq(kinds.size()), [&](unsigned kind) { return !steps.attentions(kind).empty(); }))
    os << "#ifdef BRAID_RT_WITHOUT_CUDNN\n#error this model calls the attention of cuDNN, and the runtime is built "
          "without: install cuDNN 9 and nvidia-cudnn-frontend, or compile the graph with --attention=decompose\n"
          "#endif\n\n";
  for (const KindText &kind : kinds)
    os << kind.tables;
  os << ranks.arraysText();
  for (unsigned kind = 0; kind < kinds.size(); ++kind)
    os << ranks.arraysText(kind) << callsText("matmul", steps.matmuls(kind), suffixOf(kind))
       << callsText("attention", steps.attentions(kind), suffixOf(kind));
  if (options.ignored)
    os << "// the targets that the loss leaves out\nstatic const br_loss loss = {"
       << stringLiteral(options.ignored->input) << ", " << options.ignored->index << ", "
       << (options.ignored->isMean ? "BR_MEAN" : "BR_SUM") << "};\n\n";
  os << "static const char plan[] =\n" << planText(options.planJson) << ";\n\n";
  int64_t vocabulary = vocabularySize(module, ranges);
  // Each names the next.
  for (unsigned number = kinds.size(); number-- > 0;) {
    const KindText &kind = kinds[number];
    std::string suffix = suffixOf(number);
    size_t numMatmuls = steps.matmuls(number).size(), numAttentions = steps.attentions(number).size();
    os << "static const br_model model" << suffix << " = {\n"
       << "    /*abi_version=*/BR_ABI_VERSION,\n    /*name=*/" << stringLiteral(options.modelName)
       << ",\n    /*target=*/" << stringLiteral(targetText(module)) << ",\n    /*graph_hash=*/"
       << llvm::format("0x%016llxull", static_cast<unsigned long long>(*hash)) << ",\n    /*arena_bytes=*/"
       << kind.arenaBytes << ",\n    /*accumulate=*/" << options.accumulate << ",\n    /*vocab_size=*/" << vocabulary
       << ",\n    /*tensors=*/" << (kind.numTensors ? "tensors" + suffix : "nullptr") << ", " << kind.numTensors
       << ",\n    /*programs=*/programs" << suffix << ", " << ranks.getKinds()[number].programs.size()
       << ",\n    /*matmuls=*/" << (numMatmuls ? "matmuls" + suffix : "nullptr") << ", " << numMatmuls
       << ",\n    /*plan_json=*/plan,\n    /*cpu_features=*/" << steps.getEmitter().cpuFeatures << ",\n"
       << ranks.fieldsText(number) << "    /*loss=*/" << (options.ignored ? "&loss" : "nullptr") << ",\n"
       << ranks.ranksText(number) << "    /*attentions=*/" << (numAttentions ? "attentions" + suffix : "nullptr")
       << ", " << numAttentions << ",\n    /*optimizer=*/"
       << (options.optimizer.empty() ? "nullptr" : stringLiteral(options.optimizer)) << ",\n};\n\n";
  }
  os << mainText(steps.getEmitter(), manyRanks);
  return text;
}
