//===- braid_comm.h - C ABI of communication between ranks ----------------===//
//
// A rank has one `br_comm`: a queue and one thread that executes operations in the order of their starts.
// `br_comm_start` returns a ticket at once; `br_comm_wait` returns when the operation has ended. Between
// the two calls, the operation owns the memory that it reads and writes.
//
// An operation runs over a group, which is a list of ranks. Ranks inside an operation (`root`, `pairs`) are
// places in this list. A bucket is one operation over several tensors, each in its own place. Reductions
// combine in the order of the group: floats in their own type, bf16 in f32, rounded once. They give the
// same bits in every run, on every rank and over every transport.
//
// Failure is final. If a rank waits longer than the timeout, or another rank has ended or reached a
// different operation, every operation of every rank ends with BR_ERROR. `br_comm_error` then says which
// rank waits for which operation, and where the other rank is. Failed operations own their memory until the
// communicator is destroyed.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_H
#define BRAID_COMM_H

#include "braid_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct br_comm br_comm;
typedef uint64_t br_ticket; // number of an operation on its rank, from 1

// One tensor of an operation over n ranks. `count` is the number of elements of the
// whole tensor (of a gather's result, or of a scatter's operand), the same on every rank.
// A block is one of n equal parts:
//   rows = 1   of the row-major order: ceil(count / n) elements each, also in the
//              memory of its rank. The last block may hold fewer elements or none; the
//              rest of its own memory is zeroed by a receive and ignored by a send.
//              The whole tensor is never written past its end.
//   rows > 1   of every row: the tensor is [rows, n, count / rows / n], like blocks
//              along an inner dim; n * rows divides count.
// `send_rows` splits the sent tensor and `recv_rows` the received tensor, in kinds that
// send, or receive, all blocks (CollectiveKinds.h). The blocks of all_to_all are whole:
// n * rows divides count. Pointers that a rank does not use (those of the root only,
// or `send` of a recv) are not read. The received tensor may overlap the sent tensor if
// the kind allows it (InPlace).
typedef struct {
  const void *send;
  void *recv;
  int64_t count;
  int32_t send_rows, recv_rows;
} br_segment;

typedef struct {
  br_collective kind;
  br_reduction reduction; // mean requires floats; BR_I1 supports only max and min
  br_dtype dtype;
  int32_t group;
  int32_t root;         // of broadcast, reduce, gather, scatter; peer of send, recv
  const int32_t *pairs; // source, target, source, target, ...
  int32_t n_pairs;
  const br_segment *segments;
  int32_t n_segments;
} br_operation;

// Creates a group of these ranks. Every rank creates every group in the same order, including groups that
// it is not in, so that group numbers are the same everywhere. Group 0 always exists: all ranks in order.
br_status br_comm_group(br_comm *comm, const int32_t *ranks, int32_t n_ranks, int32_t *out_group);

// Copies the description, so the caller may reuse it at once. Fails if the description is invalid (the
// message says why), and after any failure.
br_status br_comm_start(br_comm *comm, const br_operation *operation, br_ticket *out_ticket);

// Waits until the operation has ended. Operations end in order, so all operations that started earlier have
// ended, too.
br_status br_comm_wait(br_comm *comm, br_ticket ticket);

int32_t br_comm_rank(const br_comm *comm);
int32_t br_comm_size(const br_comm *comm);

// Returns the error message; empty if there was no error. Valid as long as the communicator.
const char *br_comm_error(const br_comm *comm);

#ifdef __cplusplus
}
#endif
#endif // BRAID_COMM_H
