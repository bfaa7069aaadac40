//===- Machine.cpp - rates of a module's machine --------------------------===//

#include "lib/Cost/Machine.h"

using namespace mlir;
using namespace braid;

/// Reads the rates of `exec.machine`, in seconds and bytes.
static LinkRates linkOf(Attribute given) {
  ArrayRef<double> rates = cast<DenseF64ArrayAttr>(given).asArrayRef();
  return {rates[0] * 1e-6, rates[1] * 1e9};
}

FailureOr<Machine> braid::machineOf(Operation *op) {
  const TargetInfo *target = targetOf(op);
  if (!target)
    return failure();
  Machine machine{target, ComputeRates::of(*target), HostRates::of(*target), LinkRates::of(*target), {}};
  ModuleOp module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto given = module ? module->getAttrOfType<exec::MachineAttr>(exec::ExecDialect::kMachine) : exec::MachineAttr();
  if (!given)
    return machine;
  if (DenseF64ArrayAttr compute = given.getCompute())
    machine.compute.replace(compute[0] * 1e9, compute[1] * 1e9);
  machine.linkIsGiven = given.getLink() || given.getLinks();
  if (given.getLink())
    machine.link = linkOf(given.getLink());
  for (NamedAttribute entry : given.getLinks() ? given.getLinks().getValue() : ArrayRef<NamedAttribute>())
    machine.links.push_back({entry.getName(), linkOf(entry.getValue())});
  return machine;
}

LinkRates Machine::slowestLink(comm::AxesAttr axes, const comm::Mesh &mesh) const {
  std::optional<LinkRates> slowest;
  for (StringAttr axis : axes.getNames()) {
    if (mesh.sizeOf(axis) == 1)
      continue;
    auto own = llvm::find_if(links, [&](const auto &entry) { return entry.first == axis; });
    const LinkRates &rates = own == links.end() ? link : own->second;
    if (!slowest)
      slowest = rates;
    slowest->latencySeconds = std::max(slowest->latencySeconds, rates.latencySeconds);
    slowest->bytesPerSecond = std::min(slowest->bytesPerSecond, rates.bytesPerSecond);
  }
  return slowest.value_or(link);
}

//===----------------------------------------------------------------------===//
// Parsing of options
//===----------------------------------------------------------------------===//

/// Reads two finite numbers above 0; `mayBeZero` allows 0 for the first.
static bool readRates(StringRef left, StringRef right, std::array<double, 2> &rates, bool mayBeZero) {
  return !left.trim().getAsDouble(rates[0]) && !right.trim().getAsDouble(rates[1]) &&
         llvm::all_of(rates, [](double rate) { return std::isfinite(rate); }) && rates[1] > 0 &&
         (rates[0] > 0 || (mayBeZero && rates[0] == 0));
}

std::optional<SmallVector<LinkText>> braid::readLinks(StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ',');
  SmallVector<LinkText> links;
  for (size_t place = 0; place < words.size(); place += 2) {
    auto [left, right] = words[place].split(':');
    bool hasAxis = words[place].contains(':');
    LinkText link{hasAxis ? left : StringRef(), {}};
    bool isTwice = llvm::any_of(links, [&](const LinkText &other) { return other.axis == link.axis; });
    if (isTwice || hasAxis == link.axis.empty() || place + 1 == words.size() ||
        !readRates(hasAxis ? right : left, words[place + 1], link.rates, /*mayBeZero=*/true))
      return std::nullopt;
    links.push_back(link);
  }
  return links;
}

llvm::Expected<exec::MachineAttr> braid::readMachine(MLIRContext *context, StringRef link, StringRef compute) {
  Builder builder(context);
  DenseF64ArrayAttr common, computeRates;
  NamedAttrList byAxis;
  auto [left, right] = compute.split(',');
  if (std::array<double, 2> rates; readRates(left, right, rates, /*mayBeZero=*/false))
    computeRates = builder.getDenseF64ArrayAttr(rates);
  else if (!compute.empty())
    return llvm::createStringError("compute '" + compute + "' is not GFLOPS,GBps, as in 100,20");
  std::optional<SmallVector<LinkText>> links = link.empty() ? SmallVector<LinkText>() : readLinks(link);
  if (!links)
    return llvm::createStringError("link '" + link +
                                   "' is not latency_us,GBps, as in 20,1.25 or, by axis, tp:5,100,dp:20,1.25");
  for (const LinkText &entry : *links)
    if (DenseF64ArrayAttr rates = builder.getDenseF64ArrayAttr(entry.rates); entry.axis.empty())
      common = rates;
    else
      byAxis.set(entry.axis, rates);
  return exec::MachineAttr::get(context, computeRates, common,
                                byAxis.empty() ? DictionaryAttr() : byAxis.getDictionary(context));
}
