//===- Annotate.cpp - shardings by argument names -------------------------===//
//
// A layout is text, because sharding is policy: one line for the mesh and one line for each group of arguments.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/TG/FileLayout.h"
#include "dialects/TG/Roles.h"
#include "lib/Input/Statements.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_ANNOTATEPASS
#include "passes/Strategies/Passes.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
/// `PATTERN: AXES`, and its source location.
struct LayoutOf {
  StringRef pattern, axes;
  llvm::GlobPattern glob;
  Location loc;
  bool matched = false;
};

struct Annotate final : braid::impl::AnnotatePassBase<Annotate> {
  using AnnotatePassBase::AnnotatePassBase;

  void runOnOperation() final {
    if (failed(read()) || failed(findMesh()) || failed(checkBatchAxes()))
      return signalPassFailure();
    FailureOr<SmallVector<func::FuncOp>> chosen = chooseFunctions();
    if (failed(chosen))
      return signalPassFailure();
    for (func::FuncOp function : *chosen)
      if (failed(annotate(function)))
        return signalPassFailure();
    for (const LayoutOf &statement : statements)
      if (!statement.matched) {
        emitError(statement.loc) << "no argument is named '" << statement.pattern << "'";
        signalPassFailure();
      }
  }

private:
  LogicalResult read();
  LogicalResult readStatement(StringRef text, Location loc);
  LogicalResult findMesh();
  LogicalResult checkBatchAxes();
  FailureOr<SmallVector<func::FuncOp>> chooseFunctions();
  LogicalResult annotate(func::FuncOp function);
  FailureOr<ShardingAttr> shardingOf(const LayoutOf &statement, RankedTensorType type, const Twine &argument,
                                     bool isWhole);
  LogicalResult checkInput(const LayoutOf &statement, DictionaryAttr attributes, ShardingAttr sharding);

  std::string text; ///< Storage that the statements point into.
  SmallVector<LayoutOf> statements;
  std::string meshAxes;
  MeshOp mesh;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

LogicalResult Annotate::read() {
  MLIRContext *context = &getContext();
  auto fail = [&](const Twine &text) { return emitError(UnknownLoc::get(context)) << "comm-annotate: " << text; };
  if (layout.empty() == layoutFile.empty())
    return fail("give the layout as text (layout=) or as a file (layout-file=)");
  llvm::Expected<std::string> statementsText = readStatements(layout, layoutFile);
  if (!statementsText)
    return fail(llvm::toString(statementsText.takeError()));
  text = std::move(*statementsText);
  StringRef file = layoutFile.empty() ? StringRef("layout") : StringRef(layoutFile);
  statements.clear();
  meshAxes.clear();
  for (const Statement &statement : splitStatements(text))
    if (failed(readStatement(statement.text, FileLineColLoc::get(context, file, statement.line, 1))))
      return failure();
  return success();
}

LogicalResult Annotate::readStatement(StringRef text, Location loc) {
  if (text.consume_front("mesh ")) {
    if (!meshAxes.empty())
      return emitError(loc) << "the layout has two meshes; keep one";
    meshAxes = text.trim().str();
    return success();
  }
  auto [pattern, axes] = text.split(':');
  if (pattern.size() == text.size())
    return emitError(loc) << "expected 'mesh AXIS = SIZE, ...' or 'NAME: AXES', found '" << text << "'";
  llvm::Expected<llvm::GlobPattern> glob = parsePattern(pattern.trim());
  if (!glob)
    return emitError(loc) << llvm::toString(glob.takeError());
  statements.push_back({pattern.trim(), axes.trim(), std::move(*glob), loc});
  return success();
}

/// Adds the mesh of the layout to the module; without one, uses the module's own mesh.
LogicalResult Annotate::findMesh() {
  ModuleOp module = getOperation();
  auto meshes = llvm::to_vector(module.getOps<MeshOp>());
  if (meshAxes.empty()) {
    if (meshes.size() != 1)
      return module.emitError() << "the layout names no mesh, and the module has " << meshes.size()
                                << " instead of one; add a line such as 'mesh dp = 2'";
    mesh = meshes.front();
    return success();
  }
  if (!meshes.empty())
    return module.emitError() << "the layout names a mesh, but the module already has @" << meshes.front().getSymName()
                              << "; remove one of them";
  SmallVector<Attribute> names;
  SmallVector<int64_t> sizes;
  SmallVector<StringRef> axes;
  StringRef(meshAxes).split(axes, ',');
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  for (StringRef axis : axes) {
    auto [name, size] = axis.split('=');
    if (name.trim().empty() || size.trim().getAsInteger(10, sizes.emplace_back()))
      return module.emitError() << "the layout's mesh is '" << meshAxes << "'; expected 'mesh dp = 2, tp = 4'";
    names.push_back(builder.getStringAttr(name.trim()));
  }
  mesh = builder.create<MeshOp>(module.getLoc(), "mesh", builder.getArrayAttr(names), sizes);
  return mlir::verify(mesh);
}

LogicalResult Annotate::checkBatchAxes() {
  SmallVector<StringAttr> names;
  for (const std::string &axis : batchAxes)
    names.push_back(StringAttr::get(&getContext(), axis));
  auto emitError = [&] { return getOperation().emitError() << "comm-annotate batch-axes: "; };
  return verifyAxes(emitError, Mesh(mesh), AxesAttr::get(&getContext(), names));
}

/// Returns the named functions, or all functions. Skips programs of ranks, which already have shardings.
FailureOr<SmallVector<func::FuncOp>> Annotate::chooseFunctions() {
  SmallVector<func::FuncOp> chosen;
  for (const std::string &name : functions) {
    auto function = getOperation().lookupSymbol<func::FuncOp>(name);
    if (!function)
      return getOperation().emitError() << "functions=" << name << ": the module has no such function";
    chosen.push_back(function);
  }
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (functions.empty() && !function->hasAttr(CommDialect::kProgram))
      chosen.push_back(function);
  return chosen;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

FailureOr<ShardingAttr> Annotate::shardingOf(const LayoutOf &statement, RankedTensorType type, const Twine &argument,
                                             bool isWhole) {
  // A statement without dims contains only the other parts, for a tensor of any rank.
  std::string axes = statement.axes.str();
  if (!StringRef(axes).starts_with("{"))
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      axes = dim == 0 ? "{}" + std::string(axes.empty() ? "" : ", ") + axes : "{} " + axes;
  std::string text = "#comm.sharding<@" + mesh.getSymName().str() + (axes.empty() ? "" : ", ") + axes + ">";
  auto emitError = [&] { return mlir::emitError(statement.loc) << "argument '" << argument << "': "; };
  std::string problem;
  Attribute parsed;
  {
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      problem = diagnostic.str();
      return success();
    });
    parsed = parseAttribute(text, &getContext());
  }
  auto sharding = dyn_cast_or_null<ShardingAttr>(parsed);
  if (!sharding)
    return emitError() << "invalid sharding '" << statement.axes << "': " << problem;
  if (isWhole)
    sharding = sharding.withDims(SmallVector<AxesAttr>(sharding.getDims().size(), AxesAttr::get(&getContext())));
  if (failed(verifySharding(emitError, Mesh(mesh), sharding, type)))
    return failure();
  return sharding;
}

/// Checks the sharding of an input. A rank reads whole rows of data, or parts of rows of tokens. The axes over which
/// --mesh already shards the batch are not allowed.
LogicalResult Annotate::checkInput(const LayoutOf &statement, DictionaryAttr attributes, ShardingAttr sharding) {
  tg::ArgumentAttrs argument(attributes);
  tg::RoleAttr role = argument.role;
  bool isScalar = role && !tg::isOfBatch(role); // scalars such as lr and step are not data
  if (!argument.input || isScalar)
    return success();
  auto emitError = [&] {
    return mlir::emitError(statement.loc)
           << "input " << tg::nameOf(attributes) << " is '" << statement.axes << "' here, but ";
  };
  SmallVector<AxesAttr> lists(sharding.getDims());
  lists.append({sharding.getPartial(), sharding.getFlat()});
  auto uses = [&](StringRef axis) {
    return llvm::any_of(lists, [&](AxesAttr list) { return list.contains(StringAttr::get(&getContext(), axis)); });
  };
  for (const std::string &axis : batchAxes)
    if (tg::isOfBatch(role) && uses(axis))
      return emitError() << "--mesh already shards its batch over '" << axis << "'; leave '" << axis
                         << "' out of this line";
  if (sharding.isPartial())
    return emitError() << "data are read whole; leave 'partial' out of this line";
  bool isInRows = llvm::all_of(sharding.getDims().drop_front(!sharding.getDims().empty()),
                               [](AxesAttr dim) { return dim.empty() && !dim.getOpen(); });
  if (sharding.isFlat() || !(isInRows || tg::isOfTokens(role)))
    return emitError() << "data are read in whole rows; shard only dim 0, or leave this line out";
  return success();
}

/// Returns the name of an argument in layouts: a working copy has its master's.
static StringAttr nameInLayout(DictionaryAttr attributes) {
  tg::ParamAttr param = tg::ArgumentAttrs(attributes).parameter;
  return param ? param.getOf() : tg::nameOf(attributes);
}

/// Returns the file layout of an argument. Layouts refer to tensors as graphs and files show them, which can differ
/// from the arena.
static tg::FileLayout fileLayoutOf(DictionaryAttr attributes) {
  return tg::fileLayoutOf(tg::ArgumentAttrs(attributes).persistent());
}

/// Converts a sharding to the arena's layout of the tensor. Fused parts are sharded alike.
static ShardingAttr shardingInArena(ShardingAttr sharding, const tg::FileLayout &layout) {
  SmallVector<AxesAttr> dims(sharding.getDims());
  if (layout.transposed)
    std::swap(dims[0], dims[1]);
  if (layout.fused >= 0)
    dims.insert(dims.begin() + layout.fused, AxesAttr::get(sharding.getContext()));
  return sharding.withDims(dims);
}

/// Whether an input is replicated: programs that generate text have one row or one position of the batch.
static bool isWhole(func::FuncOp function, unsigned argument) {
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[argument]);
  return tg::isOfBatch(tg::ArgumentAttrs(function, argument).role) && type.getRank() > 0 && type.getDimSize(0) == 1 &&
         argumentWithRole(function, tg::Role::Position);
}

LogicalResult Annotate::annotate(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    StringAttr name = nameInLayout(function.getArgAttrDict(i));
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!name || !type)
      continue;
    auto statement = llvm::find_if(statements, [&](const LayoutOf &candidate) { return candidate.glob.match(name); });
    if (statement == statements.end())
      continue;
    if (function.getArgAttr(i, CommDialect::kSharding))
      return emitError(statement->loc) << "argument " << name << " of '" << function.getName()
                                       << "' is already annotated, but '" << statement->pattern << "' names it, too";
    tg::FileLayout layout = fileLayoutOf(function.getArgAttrDict(i));
    FailureOr<ShardingAttr> sharding =
        shardingOf(*statement, layout.inFiles(type), name.getValue(), isWhole(function, i));
    if (failed(sharding) || failed(checkInput(*statement, function.getArgAttrDict(i), *sharding)))
      return failure();
    ShardingAttr inArena = shardingInArena(*sharding, layout);
    auto emitProblem = [&] { return emitError(statement->loc) << "argument " << name << ", held as " << type << ": "; };
    if (layout.fused >= 0 && failed(verifySharding(emitProblem, Mesh(mesh), inArena, type)))
      return failure();
    function.setArgAttr(i, CommDialect::kSharding, inArena);
    // A pattern counts as used even if an earlier pattern matched the name first.
    for (LayoutOf &other : statements)
      other.matched |= other.glob.match(name);
  }
  return success();
}
