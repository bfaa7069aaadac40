//===- braid_comm.h - the C ABI of communication between ranks ------------===//
//
// A rank has one `br_comm`: a queue and one thread that executes operations in
// the order of their starts.  `br_comm_start` returns at once with a ticket,
// `br_comm_wait` ends when that operation has; between the two the operation
// owns the memory it reads and writes.
//
// An operation runs over a group, a list of ranks; ranks inside an operation
// (`root`, `pairs`) are places in the list.  A bucket is one operation over several tensors, each in its own place.
// Reductions combine in the order of the group: floats in their own type, bf16
// in f32, rounded once.  They give the same bits in every run, on every rank and
// over every transport.
//
// Failure is final: when a rank waits longer than the time-out, has ended or
// came to another operation, every operation of every rank ends with BR_ERROR,
// and `br_comm_error` says which rank waits for what, and where the other is.  The
// memory of operations that failed stays theirs until the communicator is gone.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_H
#define BRAID_COMM_H

#include "braid_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct br_comm br_comm;
typedef uint64_t br_ticket; // the number of an operation on its rank, from 1

// One tensor of an operation over n ranks.  `count` is the whole tensor's number
// of elements (for gathers what arrives, for scatters what is split), the same on
// every rank.  A block is one of n equal parts:
//   rows = 1   of the row-major order: ceil(count / n) elements each, in the
//              memory of its rank too; the last may hold less or nothing, then
//              the rest of its own memory is zeroed where it is received and
//              ignored where it is sent.  The whole is never written past its end.
//   rows > 1   of every row: the tensor is [rows, n, count / rows / n], as blocks
//              along an inner dim are; n * rows divides count.
// `send_rows` splits what is sent and `recv_rows` what is received, in kinds that
// send, or receive, all blocks (CollectiveKinds.h); all_to_all's blocks are whole
// ones, n * rows divides count.  Pointers that a rank does not use (the root's
// alone, or `send` of a recv) are not read.  What is received may overlap what is
// sent where the kind says so (InPlace).
typedef struct {
  const void *send;
  void *recv;
  int64_t count;
  int32_t send_rows, recv_rows;
} br_segment;

typedef struct {
  br_collective kind;
  br_reduction reduction; // mean needs floats; BR_I1 has max and min alone
  br_dtype dtype;
  int32_t group;
  int32_t root;         // of broadcast, reduce, gather, scatter; peer of send, recv
  const int32_t *pairs; // source, target, source, target, ...
  int32_t n_pairs;
  const br_segment *segments;
  int32_t n_segments;
} br_operation;

// Makes a group of these ranks.  Every rank makes every group, in the same order,
// those that it is not in, too, so that groups have the same numbers everywhere.
// Group 0 is there from the start: all ranks in order.
br_status br_comm_group(br_comm *comm, const int32_t *ranks, int32_t n_ranks, int32_t *out_group);

// Copies the description, so that it may be reused at once.  Fails when it is not
// a valid one (the message says why) and after any failure.
br_status br_comm_start(br_comm *comm, const br_operation *operation, br_ticket *out_ticket);

// Operations end in order: what started before the ticket has ended, too.
br_status br_comm_wait(br_comm *comm, br_ticket ticket);

int32_t br_comm_rank(const br_comm *comm);
int32_t br_comm_size(const br_comm *comm);

// What went wrong; empty when nothing did.  Valid as long as the communicator.
const char *br_comm_error(const br_comm *comm);

#ifdef __cplusplus
}
#endif
#endif // BRAID_COMM_H
