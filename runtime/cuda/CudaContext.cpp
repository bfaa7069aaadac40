//===- CudaContext.cpp - a model that runs on a GPU -----------------------===//

#include "cuda/CudaContext.h"

#include "base/Error.h"
#include "comm/Bootstrap.h"
#include "core/Model.h"
#include "core/ProfileJson.h"
#include "cuda/MatmulProbe.h"
#include "cuda/MatmulSearch.h"
#include "cuda/braid_cuda.h"

#include <algorithm>
#include <cstring>
#include <cublasLt.h>

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

CudaContext::CudaContext(const br_model &model, int threads, const Rank &rank)
    : br_context(model, threads, rank), watchdog(rank.bootstrap ? rank.bootstrap->timeout() : 0),
      device(enterDevice(rank)), memory(device, model.arena_bytes, streams.compute, arenaAllocator(model, rank)),
      copies(memory.data(), largestPart(model), streams.copy, threads), matmuls(model, memory.data(), streams.compute),
      attentions(model, memory.data(), streams.compute),
      slots(model, memory.data(), streams, [this](cudaEvent_t event) { waitFor(event); }),
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

CudaContext::~CudaContext() {
  // NCCL cannot destroy a communicator while a CUDA graph contains its collectives, so graphs go
  // first.  Without collectives nothing waits for other ranks, and the queued work ends before its
  // memory is freed.
  if (br_comm *host = hostComm())
    host->observe(nullptr);
  graphs.clear();
  collectives.reset();
  cudaStreamSynchronize(streams.compute);
  cudaStreamSynchronize(streams.copy);
}

// Runs while the arena is still empty: nothing made before this point writes to it.
void CudaContext::chooseMatmuls() {
  const auto allGather = [this](const std::string &blob) {
    return rank.bootstrap ? rank.bootstrap->allGatherBlobs(blob) : std::vector<std::string>{blob};
  };
  const std::string gpu =
      concat(device.name, ", compute capability ", device.capability / 10, ".", device.capability % 10);
  matmulStart = startMatmuls(matmuls, model, rank, {gpu, cublasLtGetVersion()}, allGather);
}

void CudaContext::checkMessage(br_status status) {
  if (status != BR_OK || errors.any())
    failNow();
}

bool CudaContext::usesGraphs() const {
  // A graph contains fixed addresses, but the addresses of a cell change with its microbatch.
  if (model.n_cells > 0 && rank.graphs.value_or(false))
    fail("--cuda-graph=on: a step of this pipeline is a table of cells, whose places in memory change with the "
         "microbatch; leave it out");
  if (model.n_cells > 0)
    return false;
  const bool canCapture = !collectives || collectives->canBeCaptured();
  if (rank.graphs.value_or(false) && !canCapture)
    fail("--cuda-graph=on: over ", collectives->name(),
         " collectives go through the host's memory, which no CUDA graph can hold; leave it out, or choose "
         "--transport=nccl");
  return wantsGraphs(rank) && canCapture;
}

// Only the first rank has a profile; every rank has a trace.
void CudaContext::measure() {
  if (rank.profile && rank.isFirst())
    profile.emplace(model, *rank.profile);
  if (rank.trace)
    trace.emplace(model, *rank.trace, rank.traceSteps, rank.number);
  if (profile || trace)
    events.emplace(model, streams, profile ? &*profile : nullptr, trace ? &*trace : nullptr);
  if (br_comm *host = hostComm(); host && trace)
    host->observe(&*trace);
}

// Returns false for kernels compiled for older GPUs: their enter_kernel does not wait, even if the
// driver translates them for this GPU.  Returns false with a profile or a trace, whose events lie
// between kernels.
bool CudaContext::canOverlapKernels() const {
  return rank.programmaticLaunch && !isMeasured() && device.capability >= 90 && device.compiledFor >= 90;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

void CudaContext::run(const br_program &program) {
  copies.forget();
  errors.enter(program);
  slots.send(program, errors);
  if (events)
    events->enter(program, [this](cudaEvent_t event) { waitFor(event); });
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
int CudaContext::runsAhead() const { return collectives && !collectives->canBeCaptured() ? 0 : 1; }

void CudaContext::finish() {
  waitFor(slots.lastEnd());
  if (!events)
    return;
  events->finish([this](cudaEvent_t event) { waitFor(event); });
  if (trace)
    trace->write([this](const std::string &own) {
      return rank.bootstrap ? rank.bootstrap->allGatherBlobs(own) : std::vector<std::string>{own};
    });
  if (profile)
    writeProfile();
}

// Leaves MachineRates empty: bench/roofline.py knows the rates of data sheets that limit actions.
void CudaContext::writeProfile() {
  if (profile->path().empty())
    return profile->print(MachineRates());
  nlohmann::ordered_json json = jsonOf(*profile, MachineRates());
  json["products"] = jsonOfSearch(matmuls.searched());
  braid::writeProfile(*profile, json);
}

br_status CudaContext::launch(const br_program &program) {
  isBehindKernel = false;
  if (graphs.empty())
    return program.run(this);
  StepGraph &graph = graphs[&program - model.programs];
  return graph.run(
      streams.compute, [&] { return program.run(this); }, [&](cudaGraphExec_t made) { return replay(made); }, errors);
}

// A launch may block if many are queued, or, with several GPUs in a process, if other ranks have
// not launched theirs.
cudaError_t CudaContext::replay(cudaGraphExec_t graph) {
  if (collectives)
    collectives->enter("cudaGraphLaunch");
  const cudaError_t code = cudaGraphLaunch(graph, streams.compute);
  if (collectives)
    collectives->leave();
  return code;
}

// Throws the reason that came first: a failed call of this rank, or a failure of other ranks.
void CudaContext::failNow() {
  if (errors.any()) {
    if (collectives)
      watchdog.failed(errors.text());
    throw Error(errors.text());
  }
  throw RankError(collectives ? collectives->error() : "a program failed with an unknown error");
}

void CudaContext::waitFor(cudaEvent_t event) {
  if (collectives) {
    if (collectives->synchronize(event) != BR_OK)
      failNow();
    return;
  }
  errors.note(cudaEventSynchronize(event), "cudaEventSynchronize");
  if (errors.any())
    failNow();
}

const std::byte *CudaContext::result(const br_program &program, const br_io &io, int back) {
  if (const std::byte *place = slots.result(program, io, back))
    return place;
  fail("the compiled model is broken: result '", io.name, "' of program '", program.name, "' of ", io.bytes,
       " bytes is read as a scalar of a run that has ended; compile it again");
}

//===----------------------------------------------------------------------===//
// Between programs
//===----------------------------------------------------------------------===//

void CudaContext::read(uint64_t offset, void *to, uint64_t bytes) {
  waitFor(slots.lastEnd());
  copies.read(offset, to, bytes);
}

void CudaContext::write(uint64_t offset, const void *from, uint64_t bytes) {
  waitFor(slots.lastEnd());
  copies.write(offset, from, bytes);
}

// The zeros go on the copy stream, which every program waits for.
void CudaContext::zero(uint64_t offset, uint64_t bytes) {
  waitFor(slots.lastEnd());
  copies.forget();
  checkCuda(cudaMemsetAsync(memory.data() + offset, 0, bytes, streams.copy), "cudaMemsetAsync");
}

void CudaContext::expect(uint64_t offset, uint64_t bytes) {
  waitFor(slots.lastEnd());
  copies.expect(offset, bytes);
}

std::byte *CudaContext::hostMemory() {
  waitFor(slots.lastEnd());
  return hostTensors ? hostTensors->data() : nullptr;
}

// Whether NCCL also serves other ranks in this process, each with its own GPU.
static bool sharesProcess(const Rank &rank, const DeviceCollectives *collectives) {
  return collectives && collectives->canBeCaptured() && rank.bootstrap && rank.bootstrap->isOneProcess();
}

std::string CudaContext::describeGraphs() const {
  if (!graphs.empty())
    return ", each program a CUDA graph";
  if (!rank.graphs && model.n_cells == 0 && sharesProcess(rank, collectives.get()))
    return ", without CUDA graphs: NCCL may deadlock with them where a process has several GPUs; start a process for "
           "each GPU, or give --cuda-graph=on";
  return ", without CUDA graphs";
}

std::vector<std::string> CudaContext::remarks() const {
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

std::vector<std::string> CudaContext::warnings() const {
  std::vector<std::string> lines = collectives ? collectives->warnings() : std::vector<std::string>();
  if (!graphs.empty() && sharesProcess(rank, collectives.get()))
    lines.push_back(
        "this process has a GPU for each of its ranks, and NCCL may deadlock with CUDA graphs there; start a "
        "process for each GPU, or leave out --cuda-graph=on");
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
void CudaContext::launched(cudaError_t error, const void *kernel) {
  errors.note(error, kernel);
  isBehindKernel = true;
}

// Called after a copy or a fill with zeros.
void CudaContext::called(cudaError_t error, const char *call) {
  errors.note(error, call);
  isBehindKernel = false;
}

void CudaContext::matmul(int32_t index, const void *a, const void *b, void *c, const void *bias, const void *addend) {
  isBehindKernel = false;
  if (events)
    events->runsMatmul(matmuls.numberOf(index));
  const int32_t auxSlots = model.matmuls[index].aux_slots;
  if (matmuls.run(index, a, b, c, bias, addend, auxSlots ? slotOffset(auxSlots - 1) : 0) != BR_OK)
    errors.note(matmuls.error());
}

void CudaContext::action(int32_t index) {
  errors.at(index);
  if (events)
    events->at(index, errors);
}

void CudaContext::attention(int32_t index, const AttentionPlaces &places) {
  isBehindKernel = false;
  if (attentions.run(index, places) != BR_OK)
    errors.note(attentions.error());
}

// For a collective through the host's memory, the communication thread reports the time.
br_status CudaContext::start(int32_t collective) {
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

br_status CudaContext::wait(int32_t collective) {
  isBehindKernel = false;
  return collectives->wait(collectiveOfMicrobatch(collective));
}

br_status CudaContext::startTransfer(int32_t transfer) {
  isBehindKernel = false;
  hostTensors->start(transfer, errors);
  return status();
}

br_status CudaContext::waitForTransfer(int32_t transfer) {
  isBehindKernel = false;
  hostTensors->wait(transfer, errors);
  return status();
}

static CudaContext &contextOf(br_context *ctx) { return static_cast<CudaContext &>(*ctx); }

void br_use_cuda(void) {
  const ContextFactory make = [](const br_model &model, int threads, const Rank &rank) -> std::unique_ptr<br_context> {
    return std::make_unique<CudaContext>(model, threads, rank);
  };
  registerTarget("cuda", make, listMatmulsOfCuda);
}

void *br_cuda_stream(br_context *ctx) { return contextOf(ctx).stream(); }
void br_cuda_check(br_context *ctx, int error, const char *call) {
  contextOf(ctx).called(static_cast<cudaError_t>(error), call);
}
void br_cuda_launched(br_context *ctx, int error, const void *kernel) {
  contextOf(ctx).launched(static_cast<cudaError_t>(error), kernel);
}
int br_cuda_begins_early(br_context *ctx) { return contextOf(ctx).beginsEarly(); }
const br_matmul_rest *br_cuda_matmul_rest(br_context *ctx) { return contextOf(ctx).matmulRest(); }
br_status br_cuda_status(br_context *ctx) { return contextOf(ctx).status(); }
