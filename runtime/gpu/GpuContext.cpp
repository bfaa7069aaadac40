//===- GpuContext.cpp - a model that runs on a GPU ------------------------===//

#include "gpu/GpuContext.h"

#include "base/Error.h"
#include "comm/Bootstrap.h"
#include "core/Model.h"
#include "core/ProfileJson.h"
#include "gpu/Vendor.h"

#include <algorithm>

using namespace braid;

// Returns the bytes of the largest tensor or result that the host may read or write between
// programs.
static uint64_t largestPart(const br_model &model) {
  uint64_t largest = 0;
  for (const br_tensor &tensor : tensorsOf(model))
    largest = std::max(largest, tensor.on_host ? 0 : tensor.bytes);
  for (int32_t i = 0; i < model.n_programs; ++i)
    for (const br_io &io : resultsOf(model.programs[i]))
      largest = std::max(largest, io.bytes);
  return largest;
}

GpuContext::GpuContext(const br_model &model, int threads, const Rank &rank)
    : br_context(model, threads, rank), watchdog(rank.bootstrap ? rank.bootstrap->timeout() : 0, rank.ownsProcess),
      device(enterDevice(rank)), memory(device, model.arena_bytes, streams.compute, arenaAllocator(model, rank)),
      copies(memory.data(), largestPart(model), streams.copy, threads), matmuls(model, memory.data(), streams.compute),
      attentions(model, memory.data(), streams.compute),
      slots(model, memory.data(), streams, [this](const GpuEvent &event) { waitFor(event); }),
      overlapsKernels(canOverlapKernels()) {
  if (model.n_collectives > 0)
    collectives = makeDeviceCollectives(withCollectives(), rank,
                                        {device.number, memory.data(), streams, [this] { return errors.actionName(); },
                                         [this](const std::string &reason) { watchdog.failed(reason); }});
  if (model.host_bytes > 0)
    hostTensors.emplace(model, memory.data(), streams.compute);
  chooseMatmuls();
  if (usesGraphs())
    graphs.resize(model.n_programs);
  measure();
}

GpuContext::~GpuContext() {
  // NCCL cannot destroy a communicator while a graph contains its collectives, so graphs go first.  Without collectives
  // nothing waits for other ranks, and the queued work ends before its memory is freed.
  if (br_comm *host = hostComm())
    host->observe(nullptr);
  graphs.clear();
  collectives.reset();
  (void)streams.compute.synchronize();
  (void)streams.copy.synchronize();
}

// Runs while the arena is still empty: nothing made before this point writes to it.
void GpuContext::chooseMatmuls() {
  const auto allGather = [this](const std::string &blob) {
    return rank.bootstrap ? rank.bootstrap->allGatherBlobs(blob) : std::vector<std::string>{blob};
  };
  const std::string gpu = concat(device.name, ", ", device.describeArchitecture());
  matmulStart = startMatmuls(matmuls, model, rank, {gpu, GemmLibrary::version()}, allGather);
}

void GpuContext::checkMessage(br_status status) {
  if (status != BR_OK || errors.any())
    failNow();
}

bool GpuContext::usesGraphs() const {
  // A graph contains fixed addresses, but the addresses of a cell change with its microbatch.
  if (model.n_cells > 0 && rank.graphs.value_or(false))
    fail("--cuda-graph=on: a step of this pipeline is a table of cells, whose places in memory change with the "
         "microbatch; leave it out");
  if (model.n_cells > 0)
    return false;
  const bool canCapture = !collectives || collectives->canBeCaptured();
  if (rank.graphs.value_or(false) && !canCapture)
    fail("--cuda-graph=on: over ", collectives->name(), " collectives go through the host's memory, which no ",
         vendor.runtime, " graph can hold; leave it out, or choose --transport=", vendor.transport);
  return wantsGraphs(rank) && canCapture;
}

// Only the first rank has a profile; every rank has a trace.
void GpuContext::measure() {
  if (rank.profile && rank.isFirst())
    profile.emplace(model, *rank.profile);
  if (rank.trace)
    trace.emplace(model, *rank.trace, rank.traceSteps, rank.number);
  if (profile || trace)
    events.emplace(model, streams, profile ? &*profile : nullptr, trace ? &*trace : nullptr);
  if (br_comm *host = hostComm(); host && trace)
    host->observe(&*trace);
}

// Returns false with a profile or a trace, whose events lie between kernels.
bool GpuContext::canOverlapKernels() const {
  return rank.programmaticLaunch && !isMeasured() && device.canOverlapKernels();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

void GpuContext::run(const br_program &program) {
  copies.forget();
  errors.enter(program);
  slots.send(program, errors);
  if (events)
    events->enter(program, [this](const GpuEvent &event) { waitFor(event); });
  const br_status status = launch(program);
  if (events)
    events->leave(errors);
  errors.at(-1);
  slots.fetch(program, errors);
  if (status != BR_OK || errors.any())
    failNow();
}

// Returns how many runs may be queued behind the current one.  Returns 0 where waits for other
// ranks block the host: a launched run is then over except for its last actions.  A queued run
// would save nothing, and its time would be added to the previous run's.
int GpuContext::runsAhead() const { return collectives && !collectives->canBeCaptured() ? 0 : 1; }

void GpuContext::enterThread() { useDevice(device.number).check(); }

void GpuContext::finish() {
  waitFor(slots.lastEnd());
  if (!events)
    return;
  events->finish([this](const GpuEvent &event) { waitFor(event); });
  if (trace)
    trace->write([this](const std::string &own) {
      return rank.bootstrap ? rank.bootstrap->allGatherBlobs(own) : std::vector<std::string>{own};
    });
  if (profile)
    writeProfile();
}

// Leaves MachineRates empty: bench/roofline.py knows the rates of data sheets that limit actions.
void GpuContext::writeProfile() {
  if (profile->path().empty())
    return profile->print(MachineRates());
  nlohmann::ordered_json json = jsonOf(*profile, MachineRates());
  json["products"] = jsonOfSearch(matmuls.searched());
  braid::writeProfile(*profile, json);
}

br_status GpuContext::launch(const br_program &program) {
  isBehindKernel = false;
  if (graphs.empty())
    return program.run(this);
  StepGraph &graph = graphs[&program - model.programs];
  return graph.run(
      streams.compute, [&] { return program.run(this); }, [&](const GpuGraph &made) { return replay(made); }, errors);
}

// A launch may block if many are queued, or, with several GPUs in a process, if other ranks have
// not launched theirs.
GpuStatus GpuContext::replay(const GpuGraph &graph) {
  if (collectives)
    collectives->enter(GpuGraph::launchCall);
  const GpuStatus status = graph.launch(streams.compute);
  if (collectives)
    collectives->leave();
  return status;
}

// Throws the reason that came first: a failed call of this rank, or a failure of other ranks.
void GpuContext::failNow() {
  if (errors.any()) {
    if (collectives)
      watchdog.failed(errors.text());
    throw Error(errors.text());
  }
  throw RankError(collectives ? collectives->error() : "a program failed with an unknown error");
}

void GpuContext::waitFor(const GpuEvent &event) {
  if (collectives) {
    if (collectives->synchronize(event) != BR_OK)
      failNow();
    return;
  }
  errors.note(event.synchronize());
  if (errors.any())
    failNow();
}

const std::byte *GpuContext::result(const br_program &program, const br_io &io, int back) {
  if (const std::byte *place = slots.result(program, io, back))
    return place;
  fail("the compiled model is broken: result '", io.name, "' of program '", program.name, "' of ", io.bytes,
       " bytes is read as a scalar of a run that has ended; compile it again");
}

//===----------------------------------------------------------------------===//
// Between programs
//===----------------------------------------------------------------------===//

void GpuContext::read(uint64_t offset, void *to, uint64_t bytes) {
  waitFor(slots.lastEnd());
  copies.read(offset, to, bytes);
}

void GpuContext::write(uint64_t offset, const void *from, uint64_t bytes) {
  waitFor(slots.lastEnd());
  copies.write(offset, from, bytes);
}

// The zeros go on the copy stream, which every program waits for.
void GpuContext::zero(uint64_t offset, uint64_t bytes) {
  waitFor(slots.lastEnd());
  copies.forget();
  streams.copy.fillZeros(memory.data() + offset, bytes).check();
}

void GpuContext::expect(uint64_t offset, uint64_t bytes) {
  waitFor(slots.lastEnd());
  copies.expect(offset, bytes);
}

std::byte *GpuContext::hostMemory() {
  waitFor(slots.lastEnd());
  return hostTensors ? hostTensors->data() : nullptr;
}

// Whether the library of collectives also serves other ranks in this process, each with its own GPU.
static bool sharesProcess(const Rank &rank, const DeviceCollectives *collectives) {
  return collectives && collectives->canBeCaptured() && rank.bootstrap && rank.bootstrap->isOneProcess();
}

std::string GpuContext::describeGraphs() const {
  if (!graphs.empty())
    return concat(", each program a ", vendor.runtime, " graph");
  if (!rank.graphs && model.n_cells == 0 && sharesProcess(rank, collectives.get()))
    return concat(", without ", vendor.runtime, " graphs: ", vendor.collectives,
                  " may deadlock with them where a process has several GPUs; start a process for each GPU, or give "
                  "--cuda-graph=on");
  return concat(", without ", vendor.runtime, " graphs");
}

std::vector<std::string> GpuContext::remarks() const {
  std::vector<std::string> lines = {
      concat("on ", device.describe(), ", ", device.describeCode(model), describeGraphs()), memory.describeRest()};
  if (const std::string allocator = memory.describeAllocator(); !allocator.empty())
    lines.push_back(allocator);
  if (collectives && collectives->scratchBytes() > 0)
    lines.push_back(concat("of these ", collectives->scratchBytes(), " bytes are scratch of collectives"));
  if (const std::string rests = matmuls.describeRests(); !rests.empty())
    lines.push_back(rests);
  if (!matmulStart.remark.empty())
    lines.push_back(matmulStart.remark);
  return lines;
}

std::vector<std::string> GpuContext::warnings() const {
  std::vector<std::string> lines = collectives ? collectives->warnings() : std::vector<std::string>();
  if (!graphs.empty() && sharesProcess(rank, collectives.get()))
    lines.push_back(concat("this process has a GPU for each of its ranks, and ", vendor.collectives,
                           " may deadlock with ", vendor.runtime,
                           " graphs there; start a process for each GPU, or leave out --cuda-graph=on"));
  lines.insert(lines.end(), matmulStart.warnings.begin(), matmulStart.warnings.end());
  for (const std::string &own : {memory.warnOfRest(), device.warnOfCode()})
    if (!own.empty())
      lines.push_back(own);
  return lines;
}

//===----------------------------------------------------------------------===//
// Calls from programs
//===----------------------------------------------------------------------===//

// Apart from kernels, programs put work on the stream only through the functions below.
void GpuContext::launched(int error, const void *kernel) {
  if (error)
    errors.note({error, nameOfKernel(kernel).c_str()});
  isBehindKernel = true;
}

// Called after a copy or a fill with zeros.
void GpuContext::called(const GpuStatus &status) {
  errors.note(status);
  isBehindKernel = false;
}

void GpuContext::matmul(int32_t index, const void *a, const void *b, void *c, const void *bias, const void *addend) {
  isBehindKernel = false;
  if (events)
    events->runsMatmul(matmuls.numberOf(index));
  const int32_t auxSlots = model.matmuls[index].aux_slots;
  if (matmuls.run(index, a, b, c, bias, addend, auxSlots ? slotOffset(auxSlots - 1) : 0) != BR_OK)
    errors.note(matmuls.error());
}

void GpuContext::action(int32_t index) {
  errors.at(index);
  if (events)
    events->at(index, errors);
}

void GpuContext::attention(int32_t index, const AttentionPlaces &places) {
  isBehindKernel = false;
  if (attentions.run(index, places) != BR_OK)
    errors.note(attentions.error());
}

// For a collective through the host's memory, the communication thread reports the time.
br_status GpuContext::start(int32_t collective) {
  isBehindKernel = false;
  const bool isOfProgram = events && events->isInProgram();
  const bool isTimed = isOfProgram && trace && !hostComm();
  if (isTimed)
    events->starts(errors);
  const int32_t now = collectiveOfMicrobatch(collective);
  const br_status status = collectives->start(now);
  if (isTimed)
    events->started(errors);
  else if (trace && trace->isRecording() && isOfProgram)
    trace->started(collectives->ticketOf(now), events->program(), events->action());
  else if (trace && trace->isRecording() && hostComm())
    trace->startedMessage(collectives->ticketOf(now));
  return status;
}

br_status GpuContext::wait(int32_t collective) {
  isBehindKernel = false;
  return collectives->wait(collectiveOfMicrobatch(collective));
}

br_status GpuContext::startTransfer(int32_t transfer) {
  isBehindKernel = false;
  hostTensors->start(transfer, errors);
  return status();
}

br_status GpuContext::waitForTransfer(int32_t transfer) {
  isBehindKernel = false;
  hostTensors->wait(transfer, errors);
  return status();
}
