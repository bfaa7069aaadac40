//===- Mesh.cpp - ranks and groups of ranks -------------------------------===//

#include "dialects/Comm/Mesh.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace braid::comm;

Mesh::Mesh(MeshOp op) : sizes(op.getSizes()) {
  for (Attribute name : op.getNames())
    names.push_back(cast<StringAttr>(name));
}

/// Returns the mesh in the nearest symbol table that has it. An exec.program is a
/// symbol table of its own, inside the module that has the mesh.
static MeshOp findMesh(Operation *user, function_ref<Operation *(Operation *)> lookupIn) {
  Operation *table = SymbolTable::getNearestSymbolTable(user);
  while (table) {
    if (auto mesh = dyn_cast_or_null<MeshOp>(lookupIn(table)))
      return mesh;
    Operation *parent = table->getParentOp();
    table = parent ? SymbolTable::getNearestSymbolTable(parent) : nullptr;
  }
  return {};
}

static MeshOp findMesh(Operation *user, FlatSymbolRefAttr symbol) {
  return findMesh(user, [&](Operation *table) { return SymbolTable::lookupSymbolIn(table, symbol); });
}

/// Returns the mesh of `op`, or an error at `user` if `op` is null.
static FailureOr<Mesh> requireMesh(MeshOp op, Operation *user, FlatSymbolRefAttr symbol) {
  if (op)
    return Mesh(op);
  InFlightDiagnostic diagnostic = user->emitError() << "unknown comm.mesh " << symbol;
  Operation *top = user;
  while (top->getParentOp())
    top = top->getParentOp();
  if (auto module = dyn_cast<ModuleOp>(top))
    for (MeshOp op : module.getOps<MeshOp>())
      diagnostic.attachNote(op.getLoc()) << "@" << op.getSymName() << " is defined here";
  return diagnostic;
}

std::optional<Mesh> Mesh::lookup(Operation *user, FlatSymbolRefAttr symbol) {
  MeshOp op = findMesh(user, symbol);
  return op ? std::optional<Mesh>(Mesh(op)) : std::nullopt;
}

FailureOr<Mesh> Mesh::require(Operation *user, FlatSymbolRefAttr symbol) {
  return requireMesh(findMesh(user, symbol), user, symbol);
}

FailureOr<Mesh> Mesh::require(Operation *user, FlatSymbolRefAttr symbol, SymbolTableCollection &tables) {
  auto lookupIn = [&](Operation *table) { return tables.lookupSymbolIn(table, symbol); };
  return requireMesh(findMesh(user, lookupIn), user, symbol);
}

int64_t Mesh::getNumRanks() const {
  int64_t ranks = 1;
  for (int64_t size : sizes)
    ranks *= size;
  return ranks;
}

int64_t Mesh::sizeOf(StringAttr axis) const {
  const auto *it = llvm::find(names, axis);
  assert(it != names.end() && "axes are verified");
  return sizes[it - names.begin()];
}

int64_t Mesh::sizeOf(AxesAttr axes) const {
  int64_t ranks = 1;
  for (StringAttr axis : axes.getNames())
    ranks *= sizeOf(axis);
  return ranks;
}

int64_t Mesh::coordinate(int64_t rank, StringAttr axis) const {
  for (size_t i = names.size(); i-- > 0;) {
    if (names[i] == axis)
      return rank % sizes[i];
    rank /= sizes[i];
  }
  llvm_unreachable("axes are verified");
}

int64_t Mesh::numberInGroup(int64_t rank, AxesAttr axes) const {
  int64_t number = 0;
  for (StringAttr axis : axes.getNames())
    number = number * sizeOf(axis) + coordinate(rank, axis);
  return number;
}

SmallVector<int64_t> Mesh::groupOf(int64_t rank, AxesAttr axes) const {
  SmallVector<int64_t> strides(names.size(), 1);
  for (size_t i = names.size(); i-- > 1;)
    strides[i - 1] = strides[i] * sizes[i];
  auto strideOf = [&](StringAttr axis) { return strides[llvm::find(names, axis) - names.begin()]; };
  int64_t first = rank;
  for (StringAttr axis : axes.getNames())
    first -= coordinate(rank, axis) * strideOf(axis);
  SmallVector<int64_t> group{first};
  for (StringAttr axis : axes.getNames()) {
    SmallVector<int64_t> wider;
    for (int64_t member : group)
      for (int64_t i = 0; i < sizeOf(axis); ++i)
        wider.push_back(member + i * strideOf(axis));
    group = std::move(wider);
  }
  return group;
}

bool Mesh::runs(ProgramAttr program, int64_t rank) const {
  if (!program || !program.getAxis())
    return true;
  return llvm::is_contained(program.getCoordinates(), coordinate(rank, program.getAxis()));
}

Members Mesh::membersWithNumber(ProgramAttr program, AxesAttr axes, int64_t number) const {
  // The ranks of a program are a box in the grid, so each axis can be checked separately.
  Members members = Members::All;
  for (StringAttr axis : llvm::reverse(axes.getNames())) {
    int64_t size = sizeOf(axis), wanted = number % size;
    number /= size;
    bool isRestricted = program && program.getAxis() == axis;
    if (isRestricted && !llvm::is_contained(program.getCoordinates(), wanted))
      return Members::None;
    if ((isRestricted ? static_cast<int64_t>(program.getCoordinates().size()) : size) > 1)
      members = Members::Some;
  }
  return members;
}

std::string Mesh::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '{';
  llvm::interleaveComma(llvm::zip(names, sizes), os,
                        [&](auto axis) { os << std::get<0>(axis).getValue() << " = " << std::get<1>(axis); });
  os << '}';
  return text;
}

LogicalResult braid::comm::verifyAxes(function_ref<InFlightDiagnostic()> emitError, const Mesh &mesh, AxesAttr axes) {
  SmallPtrSet<StringAttr, 4> seen;
  for (StringAttr axis : axes.getNames()) {
    if (!mesh.has(axis))
      return emitError() << "unknown mesh axis '" << axis.getValue() << "' (mesh: " << mesh.str() << ")";
    if (!seen.insert(axis).second)
      return emitError() << "axis '" << axis.getValue() << "' is used twice in " << axes.str();
  }
  return success();
}

/// Returns the function around `op` with a `comm.program` attribute; null if there is none.
static Operation *enclosingFunction(Operation *op) {
  Operation *function = op->getParentOp();
  while (function && !function->hasAttrOfType<ProgramAttr>(CommDialect::kProgram))
    function = function->getParentOp();
  return function;
}

ProgramAttr braid::comm::enclosingProgram(Operation *op) {
  Operation *function = enclosingFunction(op);
  return function ? function->getAttrOfType<ProgramAttr>(CommDialect::kProgram) : ProgramAttr();
}

FailureOr<Mesh> braid::comm::requireGroup(Operation *op, FlatSymbolRefAttr symbol, AxesAttr axes,
                                          SymbolTableCollection &tables) {
  FailureOr<Mesh> mesh = Mesh::require(op, symbol, tables);
  if (failed(mesh) || failed(verifyAxes([&] { return op->emitOpError(); }, *mesh, axes)))
    return failure();
  if (axes.getOpen())
    return op->emitOpError() << "names the open axes " << axes.str() << ", which belong in annotations; drop the '?'";
  // collective_c3
  if (ProgramAttr program = enclosingProgram(op); program && program.getMesh() != symbol) {
    InFlightDiagnostic diagnostic = op->emitOpError() << "is over " << symbol << ", but its function is a program on "
                                                      << program.getMesh();
    diagnostic.attachNote(enclosingFunction(op)->getLoc()) << "the function";
    return diagnostic;
  }
  return mesh;
}
