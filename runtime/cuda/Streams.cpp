//===- Streams.cpp - streams and events of a rank's device ----------------===//

#include "cuda/Streams.h"

#include "cuda/Check.h"

using namespace braid;

Stream::Stream(Priority priority) {
  int least = 0, greatest = 0;
  checkCuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  checkCuda(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority == Priority::High ? greatest : least),
            "cudaStreamCreateWithPriority");
}
Stream::~Stream() { cudaStreamDestroy(stream); }

Event::Event(Kind kind) {
  const unsigned flags = kind == Kind::Timed ? cudaEventDefault : cudaEventDisableTiming;
  checkCuda(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags");
}
Event::~Event() {
  if (event)
    cudaEventDestroy(event);
}
