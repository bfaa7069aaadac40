//===- ModelPrinter.cpp - prints the tables of the runtime ----------------===//

#include "compiler/Codegen/ModelPrinter.h"
#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/Initializer.h"
#include "compiler/Codegen/MainText.h"
#include "dialects/Comm/Programs.h"
#include "dialects/TG/FileLayout.h"
#include "dialects/TG/ModelConfig.h"
#include "dialects/TG/TG.h"
#include "dialects/TG/TrainingFacts.h"
#include "lib/Target/TargetInfo.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

static constexpr int64_t kMaxRank = 8; // BR_MAX_RANK

//===----------------------------------------------------------------------===//
// Persistent tensors
//===----------------------------------------------------------------------===//

/// Adds the fields for the initial value of a tensor.
static void addInit(tg::InitAttr init, Initializer &row) {
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
  row.always("init", kind.str()).addUnlessZero("init_a", doubleLiteral(a)).addUnlessZero("init_b", doubleLiteral(b));
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

// Fields common to tensors and inputs.

static void addType(RankedTensorType type, const TensorShard &part, Initializer &row) {
  row.always("dtype", dtypeText(type.getElementType()))
      .always("rank", part.shape.size())
      .addUnlessZero("shape", part.shape);
}

static void addPlace(uint64_t offset, int64_t bytes, Initializer &row) {
  row.always("offset", offset).always("bytes", bytes);
}

static void addGroups(const TensorShard &part, Initializer &row) {
  row.addUnlessZero("dims", part.dims).addUnlessZero("flat", part.flat).addUnlessZero("partial", part.partial);
}

/// Converts the part to the dims of files.
static LogicalResult convertToFileLayout(const tg::FileLayout &layout, TensorShard &part, exec::TensorOp op) {
  if (layout.transposed)
    for (SmallVector<int64_t> *list : {&part.shape, &part.strides, &part.dims})
      std::swap((*list)[0], (*list)[1]);
  if (layout.fused < 0)
    return success();
  int64_t dim = layout.fused;
  if (part.dims[dim] != 0)
    return op.emitError() << "'" << op.getSymName() << "' is sharded along dim " << dim
                          << ", whose parts lie beside each other in files; shard dim " << dim + 1 << " instead";
  part.fused.assign(part.shape.size() - 1, 0);
  part.fused[dim] = part.shape[dim];
  part.shape[dim + 1] *= part.shape[dim];
  for (SmallVector<int64_t> *list : {&part.shape, &part.strides, &part.dims})
    list->erase(list->begin() + dim);
  return success();
}

static LogicalResult printTensor(exec::TensorOp op, unsigned stream, RankTables &ranks, llvm::raw_ostream &os) {
  auto type = cast<RankedTensorType>(op.getType());
  auto param = dyn_cast<tg::ParamAttr>(op.getValue());
  auto state = dyn_cast<tg::StateAttr>(op.getValue());
  if (!param && !state)
    return op.emitError() << "persistent tensor is neither #tg.param nor #tg.state";
  StringRef name = param ? param.getName() : state.getName();
  StringAttr copyOf = param ? param.getCopyOf() : StringAttr();
  if (type.getRank() > kMaxRank)
    return op.emitError() << "'" << name << "' has " << type.getRank() << " dims; the runtime supports at most "
                          << kMaxRank;

  FailureOr<TensorShard> part = ranks.partOf(op, type);
  if (failed(part))
    return failure();
  auto sharding = op->getAttrOfType<comm::ShardingAttr>(comm::CommDialect::kSharding);
  if (sharding && sharding.isPartial() && sharding.getReduction() != comm::Reduction::Sum)
    return op.emitError() << "'" << name << "' is the " << comm::stringifyReduction(sharding.getReduction()) << " over "
                          << sharding.getPartial().str()
                          << " of the parts of ranks; only sums may live across programs";
  if (failed(convertToFileLayout(tg::fileLayoutOf(op.getValue()), *part, op)))
    return failure();
  Initializer row;
  row.always("name", stringLiteral(name)).always("category", categoryText(op.getCategory()).str());
  addType(type, *part, row);
  row.addUnlessZero("stride", part->strides).newLine();
  addPlace(op.getOffset(), op.getBytes(), row);
  addInit(param ? param.getInit() : state.getInit(), row);
  row.always("stream", stream).always("checkpoint", copyOf || (state && !state.isSaved()) ? 0 : 1).newLine();
  addGroups(*part, row);
  row.addUnlessZero("fused", part->fused);
  if (copyOf)
    row.always("copy_of", stringLiteral(copyOf));
  row.addUnlessZero("on_host", op.getHost() ? 1 : 0);
  if (comm::ProgramAttr holders = comm::rankSubsetOf(op))
    row.always("at_axis", ranks.placeOf(holders.getAxis()) + 1)
        .addUnlessZero("at", *llvm::min_element(holders.getCoordinates()));
  os << "    " << row.text(4) << ",\n";
  return success();
}

/// Returns the tensor's text in checkpoints of every layout; empty for a tensor that checkpoints leave out.
static FailureOr<std::string> savedText(exec::TensorOp op, RankTables &ranks) {
  auto param = dyn_cast<tg::ParamAttr>(op.getValue());
  auto state = dyn_cast<tg::StateAttr>(op.getValue());
  if (param ? static_cast<bool>(param.getCopyOf()) : state && !state.isSaved())
    return std::string();
  auto type = cast<RankedTensorType>(op.getType());
  FailureOr<TensorShard> part = ranks.partOf(op, type);
  if (failed(part))
    return failure();
  if (failed(convertToFileLayout(tg::fileLayoutOf(op.getValue()), *part, op)))
    return failure();
  StringRef name = param ? param.getName() : state.getName();
  // Leaves out its category: the same tensor is a parameter in f32 and a master in bf16.
  return (name + " " + dtypeText(type.getElementType()) + " " + listText(part->shape)).str();
}

/// Returns br_model.graph_hash, which is equal for every mesh, batch, target and precision of the computation.
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

/// Valid index range of each integer input, by input name.
using IndexRanges = llvm::StringMap<tg::IndexedBy>;

/// Returns the ranges that the graph states. A module without a graph uses the numbers of rows that it gathers.
static IndexRanges indexRangesOf(ModuleOp module, const ArenaMap &arena, const tg::TrainingFacts &facts) {
  IndexRanges ranges;
  for (const tg::IndexedBy &range : facts.indices)
    ranges[range.input] = range;
  if (!ranges.empty())
    return ranges;
  auto add = [&](Value indices, Type table) {
    auto buffer = dyn_cast<exec::BufferOp>(arena.storageOf(indices));
    if (buffer && buffer.getIo() == "input")
      ranges[buffer.getName()] = {buffer.getName().str(), exec::tensorOf(table).getDimSize(0)};
  };
  module.walk([&](exec::GatherOp op) { add(op.getIndices(), op.getTable().getType()); });
  module.walk([&](exec::LaunchOp op) {
    if (exec::KernelDefOp kernel = arena.kernelOf(op))
      exec::visitTableReads(*kernel.getBlock(), [&](linalg::GenericOp, const exec::TableRead &read) {
        if (read.numbers)
          add(op.getIns()[read.numbers.getArgNumber()], read.table.getType());
      });
  });
  return ranges;
}

/// Returns the number of rows of the table that tokens index, or 0.
static int64_t vocabularySize(ModuleOp module, const IndexRanges &ranges) {
  int64_t size = 0;
  module.walk([&](exec::BufferOp buffer) {
    if (buffer.getIo() == "input" && buffer.getRole() == tg::stringifyRole(tg::Role::Tokens))
      size = ranges.lookup(buffer.getName()).extent;
  });
  return size;
}

/// Prints inputs, then results. Returns the number of each.
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
                                  << " dims; the runtime supports at most " << kMaxRank;
      FailureOr<TensorShard> part = ranks.partOf(buffer, type);
      if (failed(part))
        return failure();
      tg::IndexedBy range = wantsResult ? tg::IndexedBy() : ranges.lookup(buffer.getName());
      Initializer row;
      row.always("name", stringLiteral(buffer.getName())).always("role", stringLiteral(buffer.getRole().value_or("")));
      addType(type, *part, row);
      addPlace(buffer.getOffset(), type.getNumElements() * elementBytes(type.getElementType()), row);
      addGroups(*part, row);
      row.addUnlessZero("extent", range.extent).addUnlessZero("ignored", range.ignored);
      os << "    " << row.text(4) << ",\n";
      ++counts[wantsResult];
    }
  return std::make_pair(counts[0], counts[1]);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Returns JSON as adjacent literals, one per object, so that no literal exceeds the length that compilers must accept.
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

namespace {
/// Text of a kind of ranks: its tables, and the sizes for its br_model.
struct KindText {
  std::string tables;
  int64_t arenaBytes = 0, hostBytes = 0;
  unsigned numTensors = 0;
};
} // namespace

static LogicalResult printTensors(ModuleOp module, const RankKind &kind, RankTables &ranks, KindText &text,
                                  StringRef suffix) {
  std::string rows;
  llvm::raw_string_ostream stream(rows);
  // Initial values do not depend on which rank holds which tensor, nor on copies.
  llvm::StringMap<unsigned> copies;
  for (auto [number, tensor] : llvm::enumerate(module.getOps<exec::TensorOp>()))
    if (auto param = dyn_cast<tg::ParamAttr>(tensor.getValue()); param && param.getCopyOf())
      copies[param.getCopyOf()] = number;
  for (auto [place, tensor] : llvm::enumerate(module.getOps<exec::TensorOp>())) {
    // The runtime neither saves caches nor initializes them: programs fill them.
    if (!comm::shareRanks(comm::rankSubsetOf(tensor), kind.ranks) || tensor.getCategory() == exec::Category::Caches ||
        tensor.getSlots())
      continue;
    int64_t &bytes = tensor.getHost() ? text.hostBytes : text.arenaBytes;
    bytes = std::max<int64_t>(bytes, tensor.getOffset() + tensor.getBytes());
    auto copy = copies.find(tensor.getSymName());
    if (failed(printTensor(tensor, copy == copies.end() ? place : copy->second, ranks, stream)))
      return failure();
    ++text.numTensors;
  }
  if (text.numTensors)
    text.tables += "static const br_tensor tensors" + suffix.str() + "[] = {\n" + rows + "};\n\n";
  return success();
}

/// Returns the table of a program's actions.
static std::string actionsText(StringRef table, ArrayRef<std::string> actions) {
  std::string text = "static const br_action_desc " + table.str() + "[] = {\n";
  for (auto [number, action] : llvm::enumerate(actions))
    text += "    " + action + ", // " + std::to_string(number) + "\n";
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
    ArrayRef<std::string> programActions = steps.actionsOf(program);
    std::string actionTable = identifier(program.getSymName()) + "_actions";
    if (!programActions.empty())
      actions += actionsText(actionTable, programActions);
    Initializer row;
    row.always("name", stringLiteral(entryOf(program)));
    row.always("run", "braid::" + programFunction(program.getSymName())).newLine();
    if (any)
      row.always("ios", table).always("n_inputs", counts->first).always("n_results", counts->second).newLine();
    programs += "    " + row.rows("actions", actionTable, "n_actions", programActions.size()).text(4) + ",\n";
    text.arenaBytes = std::max<int64_t>(text.arenaBytes, program.getArenaBytes());
  }
  if (!ios.empty())
    text.tables += "// inputs, then results\n" + ios + "\n";
  if (!actions.empty())
    text.tables += "// what each action is\n" + actions + "\n";
  text.tables += "static const br_program programs" + suffix.str() + "[] = {\n" + programs + "};\n\n";
  return success();
}

/// Returns the table `NAMEs` with the descriptors of library calls, of type `br_NAME_desc`.
static std::string callsText(StringRef name, ArrayRef<std::string> rows, StringRef suffix) {
  if (rows.empty())
    return "";
  std::string text = ("static const br_" + name + "_desc " + name + "s" + suffix + "[] = {\n").str();
  for (auto [number, row] : llvm::enumerate(rows))
    text += "    " + row + ", // " + std::to_string(number) + "\n";
  return text + "};\n\n";
}

/// Adds the fields of a br_model that point to such a table.
static void addCalls(StringRef name, ArrayRef<std::string> rows, StringRef suffix, Initializer &model) {
  std::string table = (name + "s").str();
  model.newLine().rows(table, table + suffix.str(), "n_" + table, rows.size());
}

/// Adds the tables of a kind of ranks to its br_model.
static void addTables(unsigned number, const KindText &kind, const StepPrinter &steps, const RankTables &ranks,
                      Initializer &model) {
  std::string suffix = suffixOf(number);
  model.newLine().rows("tensors", "tensors" + suffix, "n_tensors", kind.numTensors);
  model.newLine().rows("programs", "programs" + suffix, "n_programs", ranks.getKinds()[number].programs.size());
  addCalls("matmul", steps.matmuls(number), suffix, model);
  model.newLine().always("plan_json", "plan").newLine().always("cpu_features", steps.getEmitter().cpuFeatures.str());
  ranks.addArrays(number, model);
}

/// Returns the tables of library calls, and of copies from and to the host.
static std::string callTablesText(unsigned kind, const StepPrinter &steps) {
  std::string suffix = suffixOf(kind);
  return callsText("matmul", steps.matmuls(kind), suffix) + callsText("attention", steps.attentions(kind), suffix) +
         steps.transferParts(kind).str() + callsText("transfer", steps.transfers(kind), suffix);
}

/// Adds the fields for the host's memory.
static void addHostMemory(unsigned number, const KindText &kind, const StepPrinter &steps, Initializer &model) {
  if (kind.hostBytes > 0)
    model.newLine().always("host_bytes", kind.hostBytes);
  addCalls("transfer", steps.transfers(number), suffixOf(number), model);
}

/// Adds the reference rates of the hardware, and the description of the model for other programs.
static void addDescription(ModuleOp module, Initializer &model) {
  if (const GpuInfo *gpu = targetOf(module)->gpu)
    model.newLine()
        .always("peak_device", stringLiteral(gpu->card))
        .always("peak_flops", doubleLiteral(gpu->f32Flops))
        .always("peak_half_flops", doubleLiteral(gpu->bf16Flops));
  if (auto config = module->getAttrOfType<StringAttr>(tg::kConfig))
    model.newLine().always("config", stringLiteral(config));
}

static void addStagesAndIdentity(const PipelineTables &pipeline, unsigned number, const tg::ModelIdentity &identity,
                                 Initializer &model) {
  pipeline.addArrays(number, model);
  if (identity.hash)
    model.newLine()
        .always("model_hash", "0x" + llvm::utohexstr(identity.hash, /*LowerCase=*/true) + "ull")
        .newLine()
        .always("operations", stringLiteral(identity.operations));
}

/// Prints includes and preprocessor checks of the file.
static void printHead(llvm::raw_ostream &os, const StepEmitter &emitter, bool manyRanks, bool callsAttention) {
  os << "// The tables that the runtime reads, and main.\n"
        "#include \"braid_rt.h\"\n#include \""
     << emitter.modelInclude << "\"\n#include \"step.h\"\n"
     << (manyRanks ? "#include \"comm/transports.h\"\n\n" : "\n")
     << "// A field that a row does not name is 0.\n#pragma GCC diagnostic ignored "
        "\"-Wmissing-field-initializers\"\n\n";
  if (callsAttention)
    os << "#ifdef BRAID_RT_WITHOUT_CUDNN\n#error this model calls the attention of cuDNN, and the runtime is built "
          "without: install cuDNN 9 and nvidia-cudnn-frontend, or compile the graph with --attention=decompose\n"
          "#endif\n\n";
}

/// Prints the loss for the runtime.
static void printLoss(llvm::raw_ostream &os, const tg::IgnoredTargets &ignored) {
  os << "// the targets that the loss leaves out\nstatic const br_loss loss = "
     << Initializer()
            .always("targets", stringLiteral(ignored.input))
            .always("ignored", ignored.index)
            .always("reduction", ignored.isMean ? "BR_MEAN" : "BR_SUM")
            .always("rows", ignored.rows ? 1 : 0)
            .text()
     << ";\n\n";
}

FailureOr<std::string> codegen::printModel(ModuleOp module, const StepPrinter &steps, RankTables &ranks,
                                           const PipelineTables &pipeline, StringRef planJson) {
  tg::TrainingFacts facts = tg::TrainingFacts::of(module).value_or(tg::TrainingFacts());
  bool manyRanks = !module.getOps<comm::MeshOp>().empty();
  IndexRanges ranges = indexRangesOf(module, ArenaMap(module), facts);
  SmallVector<KindText> kinds(ranks.getKinds().size());
  for (auto [number, kind, text] : llvm::enumerate(ranks.getKinds(), kinds)) {
    if (failed(printTensors(module, kind, ranks, text, suffixOf(number))) ||
        failed(printPrograms(kind, steps, ranges, ranks, text, suffixOf(number))))
      return failure();
    for (exec::ProgramOp program : kind.programs)
      text.hostBytes = std::max(text.hostBytes, program.getHostBytes());
  }
  FailureOr<uint64_t> hash = graphHash(module, ranks, facts.optimizer);
  if (failed(hash))
    return failure();

  std::string text;
  llvm::raw_string_ostream os(text);
  bool callsAttention =
      llvm::any_of(llvm::seq(kinds.size()), [&](unsigned kind) { return !steps.attentions(kind).empty(); });
  printHead(os, steps.getEmitter(), manyRanks, callsAttention);
  for (const KindText &kind : kinds)
    os << kind.tables;
  os << ranks.arraysText();
  for (unsigned kind = 0; kind < kinds.size(); ++kind)
    os << ranks.arraysText(kind) << callTablesText(kind, steps);
  os << pipeline.arraysText();
  for (auto [number, kind] : llvm::enumerate(ranks.getKinds()))
    os << pipeline.arraysText(kind, number);
  if (facts.ignored)
    printLoss(os, *facts.ignored);
  os << "static const char plan[] =\n" << planText(planJson) << ";\n\n";
  // Each kind points to the next one.
  for (unsigned number = kinds.size(); number-- > 0;) {
    Initializer model;
    model.always("abi_version", "BR_ABI_VERSION").newLine().always("name", stringLiteral(facts.model)).newLine();
    model.always("target", stringLiteral(targetText(module))).newLine();
    model.always("graph_hash", "0x" + llvm::utohexstr(*hash, /*LowerCase=*/true, /*Width=*/16) + "ull").newLine();
    model.always("arena_bytes", kinds[number].arenaBytes).newLine().always("accumulate", facts.microbatches).newLine();
    model.addUnlessZero("vocab_size", vocabularySize(module, ranges));
    addTables(number, kinds[number], steps, ranks, model);
    if (facts.ignored)
      model.newLine().always("loss", "&loss");
    ranks.addRanks(number, model);
    addCalls("attention", steps.attentions(number), suffixOf(number), model);
    if (!facts.optimizer.empty())
      model.newLine().always("optimizer", stringLiteral(facts.optimizer));
    addHostMemory(number, kinds[number], steps, model);
    addDescription(module, model);
    addStagesAndIdentity(pipeline, number, facts.identity, model);
    os << "static const br_model model" << suffixOf(number) << " = " << model.text() << ";\n\n";
  }
  os << mainText(steps.getEmitter(), manyRanks);
  return text;
}
