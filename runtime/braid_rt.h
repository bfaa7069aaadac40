//===- braid_rt.h - the C ABI between generated programs and the runtime --===//
//
// A compiled model is one `br_model`: a table of persistent tensors, a few entry points (`train`,
// `accumulate`, `eval`, `generate`), and the size in bytes of the arena that holds everything.  The
// runtime owns the arena and the threads, writes inputs and run-time scalars at the offsets that
// the compiler chose, and calls the entry points.  Generated code calls back only for threads and
// for the library calls below.
//
// A model may be a program for many ranks, which all run the same code on their parts of the
// tensors.  No table depends on the rank; ranks that run other code have a br_model of their own.
//
// Conventions: opaque handles, `br_status` results, outputs last.  Offsets and sizes are bytes,
// offsets from the start of the arena; strides are in elements.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_RT_H
#define BRAID_RT_H

#include "braid_collective.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BR_ABI_VERSION 18
#define BR_MAX_RANK 8
#define BR_MAX_LOOPS 6
#define BR_MAX_AXES 8

typedef enum { BR_OK = 0, BR_ERROR = 1 } br_status;
typedef enum { BR_F64, BR_F32, BR_BF16, BR_I32, BR_I64, BR_I1, BR_I8 } br_dtype;
typedef struct br_context br_context;

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

// An axis of the mesh.  Ranks are numbered row-major: the last axis varies fastest.
typedef struct {
  const char *name;
  int32_t size;
} br_axis;

// A kind of group: a list of mesh axes by index, major to minor.  A group has the ranks that differ
// only in these coordinates, numbered row-major over the list.  Every rank is in one group of each
// kind.
typedef struct {
  int32_t n_axes;
  int32_t axes[BR_MAX_AXES];
} br_group;

// One tensor of a collective; `count` and the rows are as in br_segment.  If send_slots or
// recv_slots is i + 1, the tensor is in a slot of br_model.slots[i], and the offset is its offset
// in the first slot.
typedef struct {
  uint64_t send, recv;
  int64_t count;
  int32_t send_rows, recv_rows;
  int32_t send_slots, recv_slots;
} br_segment_desc;

// A collective of a program.  Each start in a program has its own descriptor, so that its ticket
// has a place.
typedef struct {
  br_collective kind;
  br_reduction reduction;
  br_dtype dtype;
  int32_t group;        // index into br_model.groups
  int32_t root;         // root of broadcast, reduce, gather, scatter; peer of send, recv
  const int32_t *pairs; // pairs of permute: source, target, source, target, ...
  int32_t n_pairs;
  const br_segment_desc *segments;
  int32_t n_segments;
} br_collective_desc;

//===----------------------------------------------------------------------===//
// The compiled model
//===----------------------------------------------------------------------===//

typedef enum {
  BR_INIT_ZEROS,
  BR_INIT_ONES,
  BR_INIT_CONSTANT, // a
  BR_INIT_NORMAL,   // mean a, standard deviation b
  BR_INIT_UNIFORM   // half-open range [a, b)
} br_init_kind;

// Purpose of a persistent tensor.  BR_GRADIENTS are sums over microbatches.
typedef enum { BR_PARAMETERS = 0, BR_GRADIENTS = 1, BR_OPTIMIZER_STATE = 2 } br_category;

// A tensor that persists across steps.  `shape` is the logical shape of the whole tensor, as in
// checkpoints; `stride` is its layout in the arena (n x k weights).  Random initial values depend
// only on (seed, stream, logical index).
//
// A rank may hold a part.  Dim i is sharded in equal blocks over the group dims[i]: the rank holds
// the block with its number in that group, and `stride` is the layout of this block.  If fused[i]
// is 2 or more, dim i consists of that many equal parts side by side, such as [q|k|v] in one
// matrix, and each part is sharded in this way.  Then the rank's block is its blocks of all parts,
// one after the other.
//
// If the group `flat` has more than one rank, the block is sharded once more.  Its elements, in the
// order of its strides (largest first), are padded and split into contiguous ranges of
// ceil(elements / ranks), and the rank holds its range.  Group 0 is always a single rank: a dim or
// range with group 0 is not sharded.
//
// If the group `partial` is not 0, the logical tensor is the sum of the tensors on the ranks of
// that group: an accumulator of gradients that are not reduced yet.
typedef struct {
  const char *name;
  br_category category;
  br_dtype dtype;
  int32_t rank;
  int64_t shape[BR_MAX_RANK];
  int64_t stride[BR_MAX_RANK];
  uint64_t offset, bytes;
  br_init_kind init;
  double init_a, init_b;
  uint32_t stream;                 // Philox stream of the initial values
  int32_t checkpoint;              // 0: not in checkpoints (accumulators)
  int32_t dims[BR_MAX_RANK], flat; // groups to shard the dims and the flat range over
  int32_t partial;                 // group to sum over; 0: not a sum
  int32_t fused[BR_MAX_RANK];      // fused parts in each dim; 0: the dim is not fused
  const char *copy_of; // name of the tensor with the same values; types and shardings may differ; null: not a copy
  int32_t on_host;     // 1: in the host memory beside a device's arena, at `offset`
  // For ranks with different tensors: the tensor's first holders have coordinate `at` along axis
  // `at_axis` - 1 of the mesh.  at_axis is 0 if all ranks hold the tensor.
  int32_t at_axis, at;
} br_tensor;

// An input, a result or a run-time scalar of one program.  `shape` is logical; the rank's part (see
// br_tensor) is contiguous, `bytes` long.  `role` is the contract with the training loop:
//   inputs   tokens, targets (i32 [B,S], or f32 of any shape for regression
//            models: role "features"/"labels"), shared (any shape, the same for all rows), lr (f32 scalar), step (i32
//            scalar, 1 for the first step), key (i32[4]: seed low, seed high,
//            step, microbatch), position (i32 scalar)
//   results  loss (f32 scalar), grad_norm (f32 scalar), logits (f32[V]) or any
//            name that the graph asked to keep
// If the program uses an input as indices, its values must be in [0, extent), or equal `ignored` (0
// if no value is ignored).  Other values give undefined results, so the runtime checks the data.
// An extent of 0 means that the input has no indices.
typedef struct {
  const char *name;
  const char *role;
  br_dtype dtype;
  int32_t rank;
  int64_t shape[BR_MAX_RANK];
  uint64_t offset, bytes;
  int32_t dims[BR_MAX_RANK], flat, partial;
  int64_t extent, ignored;
} br_io;

// An action of a program, for errors, profiles and traces.
typedef struct {
  const char *name;                  // for messages: "matmul -> h.0.mlp [256 x 3072]; gpt.mlir:40"
  const char *op;                    // "matmul", "launch", "start"
  const char *kernel;                // common name of actions of the same sort: "layer_norm", "matmul 256 x 3072 x 768"
  const char *unit, *phase;          // "h.0", "forward"; null: none
  br_dtype type;                     // type of the multiplied matrices
  double matrix_flops, vector_flops; // FLOPs in matmuls, and in all other work
  int64_t bytes;                     // bytes read and written, each operand and result once
} br_action_desc;

// `run` fails if communication fails; br_comm_error gives the reason.
typedef struct {
  const char *name; // "train", "accumulate", "eval", "generate", "agree"
  br_status (*run)(br_context *);
  const br_io *ios;
  int32_t n_inputs, n_results; // ios holds the inputs, then the results
  const br_action_desc *actions;
  int32_t n_actions;
} br_program;

// One tensor of a transfer: its offsets in the arena and in the host memory, and its bytes.
typedef struct {
  uint64_t device, host, bytes;
} br_transfer_part;

// A copy of tensors between a device's arena and the host memory beside it.  Each start in a
// program has its own descriptor.
typedef struct {
  int32_t to_host; // 0: to the device
  const br_transfer_part *parts;
  int32_t n_parts;
} br_transfer_desc;

// Equal slots, one after the other, for tensors that several microbatches of a pipeline each have;
// `bytes` is the size of a slot.  A program on microbatch i uses slot of_microbatch[i].
typedef struct {
  int64_t bytes;
  const int32_t *of_microbatch;
  int32_t n_microbatches;
} br_slots;

// One action of a pipeline rank in a step, before it runs `train`: runs a program on a microbatch,
// starts a message, or waits for a message.
typedef enum { BR_CELL_RUN, BR_CELL_START, BR_CELL_WAIT } br_cell_kind;
typedef struct {
  br_cell_kind kind;
  int32_t index; // index of a program or of a collective
  int32_t microbatch;
} br_cell;

// A loss that skips targets equal to `ignored`.
typedef struct {
  const char *targets; // name of the input with the targets; i32
  int32_t ignored;
  br_reduction reduction; // BR_MEAN over the targets that count, or BR_SUM
  int32_t rows;           // 1: a batch row whose targets are all ignored does not affect the result, whatever its data
} br_loss;

struct br_matmul_desc;
struct br_attention_desc;

typedef struct br_model {
  uint32_t abi_version;
  const char *name;
  const char *target;  // "cuda:sm_90"; "cpu" or null for the host
  uint64_t graph_hash; // hash of names, shapes and types of the checkpointed tensors, and of the optimizer's name
  uint64_t arena_bytes;
  int32_t accumulate; // microbatches of a step (K): K-1 x accumulate, then train; with cells: the cells, then train
  int64_t vocab_size; // rows of the embedding table that `tokens` indexes; 0: no such table
  const br_tensor *tensors;
  int32_t n_tensors;
  const br_program *programs;
  int32_t n_programs;
  const struct br_matmul_desc *matmuls;
  int32_t n_matmuls;
  const char *plan_json;    // the memory plan, as --report writes it
  const char *cpu_features; // CPU features that the code needs: "avx512f avx2 ..."
  const br_axis *mesh;      // null: one rank
  int32_t n_axes;
  const br_group *groups; // the first is the single rank, without axes
  int32_t n_groups;
  const br_collective_desc *collectives;
  int32_t n_collectives;
  // Upper limit of CTAs of a collective on a GPU, each on a multiprocessor that computes nothing
  // else meanwhile; 0: the collective library chooses.
  int32_t comm_ctas;
  const br_loss *loss; // null: every target counts
  // Only ranks with these coordinates along `axis` run this model; no coordinates means all ranks.
  // Other ranks run another model of the list, with the same mesh, groups and names of programs,
  // but with its own tensors and arena.
  int32_t axis;
  const int32_t *coordinates;
  int32_t n_coordinates;
  const struct br_model *others; // the next model; null after the last
  const struct br_attention_desc *attentions;
  int32_t n_attentions;
  const char *optimizer; // its name, then its settings: "adamw beta1=0.9 eps=1e-08"; null if unknown
  uint64_t host_bytes;   // host memory beside a device's arena; 0: none
  const br_transfer_desc *transfers;
  int32_t n_transfers;
  // The device that the model was compiled for, and its FLOPs per second in f32 and in bf16 by the
  // data sheet; null and 0 if unknown.
  const char *peak_device;
  double peak_flops, peak_half_flops;
  const char *config; // text of the model's config.json; null: none
  const br_slots *slots;
  int32_t n_slots;
  const br_cell *cells; // null: the model has no pipeline stages
  int32_t n_cells;
  // Operations of the forward graph, with settings that shapes do not show (heads, epsilons,
  // activations).  `model_hash` is a hash of them, and `operations` has one line for each kind with
  // its count.  Both are the same for every batch, mesh and target; 0 and null if unknown.
  uint64_t model_hash;
  const char *operations;
} br_model;

// The main function of the training binary: parses the command line and runs it.
int br_main(int argc, char **argv, const br_model *model);

// Restarts the program with a short spin time at barriers, unless the environment sets one
// (GOMP_SPINCOUNT, OMP_WAIT_POLICY).  main must call it first.
void br_limit_spinning(char **argv);

// Returns the model of a library (braid/step.h), which registers what it is linked with. The generated code of a
// library defines it, instead of main.
const br_model *br_library_model(void);

// Registers the target that a program was compiled for; main calls it before br_main.  Each other
// target has its own function (cuda/braid_cuda.h).
void br_use_cpu(void);

//===----------------------------------------------------------------------===//
// Calls from generated code
//===----------------------------------------------------------------------===//

// Returns the arena's first byte, in the target's memory, aligned to at least 64 bytes.
void *br_arena(br_context *ctx);

// Returns the distance in bytes from the first slot of br_model.slots[slots] to the slot in use.
int64_t br_slot(br_context *ctx, int32_t slots);

// Whether a profile or trace is on (--profile, --trace); then programs must call br_action.
int br_is_measured(br_context *ctx);

// Announces action `index` of the running program.
void br_action(br_context *ctx, int32_t index);

// Runs fn(arg, begin, end) on a fixed partition of [0, count) into contiguous ranges, one for each
// thread; returns when all are done.
void br_parallel(br_context *ctx, int64_t count, void (*fn)(void *arg, int64_t begin, int64_t end), void *arg);

typedef enum {
  BR_EPILOGUE_NONE,
  BR_EPILOGUE_GELU_TANH,
  BR_EPILOGUE_GELU_ERF,
  BR_EPILOGUE_SILU,
  BR_EPILOGUE_GELU_TANH_GRAD // multiplies by the derivative of tanh-GELU at `aux`
} br_epilogue;

// The operand whose sum is the gradient of a bias.
typedef enum { BR_BIAS_GRAD_NONE = 0, BR_BIAS_GRAD_A, BR_BIAS_GRAD_B } br_bias_grad;

// A matrix of a matmul.  Strides are distances between rows, between columns (one of these two is
// 1), and between iterations of each loop (0 broadcasts).
typedef struct br_matrix {
  br_dtype type;
  int64_t row_stride, column_stride;
  int64_t batch_strides[BR_MAX_LOOPS], outer_strides[BR_MAX_LOOPS];
} br_matrix;

// C[m,n] (+)= epilogue(sum over k and the outer loops of A[m,k] * B[k,n] + bias[n]) + addend[m,n].
// `batch` loops run over independent matrices.  `outer` loops are contraction dims that do not
// collapse with k: their GEMMs accumulate into the same C, in order.
// `accumulate` adds to the old C (beta = 1).
// `addend` is a matrix of C's type: C itself, or memory that does not overlap C.  It excludes outer
// loops, and every epilogue except a bias.
// `aux` is a matrix like C, in rows of `aux_m` elements of C's type, for training: GELU stores its
// input there, and GELU's gradient reads it.
// `bias_grad` is a contiguous vector of C's type for the gradient of a bias: the sum of A over k (m
// elements) or of B (n elements).  It is overwritten even if C accumulates.
typedef struct br_matmul_desc {
  int64_t m, n, k;
  int32_t n_batch;
  int64_t batch[BR_MAX_LOOPS]; // iterations of each loop
  int32_t n_outer;
  int64_t outer[BR_MAX_LOOPS];
  br_matrix a, b, c;
  int32_t has_bias; // bias[n], of bias_type, contiguous
  br_dtype bias_type;
  int32_t has_addend;
  br_matrix addend;
  int32_t accumulate;
  br_epilogue epilogue;
  uint64_t workspace_offset, workspace_bytes; // the bytes belong to this call; calls share the region
  int32_t has_aux;
  int64_t aux_m;
  uint64_t aux_offset;
  int32_t aux_slots; // i + 1: in br_model.slots[i]; 0: not in a slot
  br_bias_grad bias_grad;
  uint64_t bias_grad_offset;
  int32_t beside_collective; // on a GPU: leaves multiprocessors for a collective's CTAs
  int32_t copy_b;            // on a CPU: copies a bf16 B into the library's layout once, before the product
} br_matmul_desc;

// `index` is the descriptor's index in br_model.matmuls.  Implementations are chosen once, at
// start, for the number of threads.
void br_matmul(br_context *ctx, int32_t index, const void *a, const void *b, void *c, const void *bias,
               const void *addend);

// Order in which the gradient of attention accumulates dq: any order, a fixed order, or a fixed
// order without memory for the gradient of the scores.
typedef enum { BR_ORDER_ANY, BR_ORDER_FIXED, BR_ORDER_SERIAL } br_sum_order;

// o = softmax(scale q k^T) v for each batch and head.  lse is the logarithm of the softmax's
// divisor: f32 [batch, heads, queries], contiguous.  Query head h reads key head h / (heads /
// key_heads).  With `causal`, position s reads positions t <= s + first; only the last `window` of
// them if `window` is not 0.  The document numbers have `positions` entries for each row of the
// batch.  A softcap c changes scores s to c tanh(s / c); 0 means none.  Strides are in elements,
// for batch, sequence and heads; the stride along `size` is 1.
typedef struct br_attention_desc {
  int64_t batch, heads, key_heads, queries, keys, size;
  int64_t q[3], k[3], v[3], o[3];
  int32_t gradient; // whether it is for br_attention_grad
  int64_t dout[3], dq[3], dk[3], dv[3];
  br_sum_order order;
  br_dtype type; // type of all tensors but lse
  double scale, softcap;
  int32_t causal;
  int64_t window, first, positions;
  uint64_t workspace_offset, workspace_bytes; // the bytes belong to this call; calls share the region
} br_attention_desc;

// `index` is the descriptor's index in br_model.attentions.
void br_attention(br_context *ctx, int32_t index, const void *q, const void *k, const void *v, void *o, void *lse);
void br_attention_grad(br_context *ctx, int32_t index, const void *q, const void *k, const void *v, const void *o,
                       const void *lse, const void *dout, void *dq, void *dk, void *dv);

// out[i, :] = table[ids[i], :] for n ids; rows of `width` elements.
void br_gather(br_context *ctx, br_dtype type, int64_t n, int64_t rows, int64_t width, const void *table,
               const int32_t *ids, void *out);

// out = 0 (unless accumulate); out[ids[i], :] += updates[i, :] in order of i.  Gives the same bits
// for any number of threads.
void br_scatter_add(br_context *ctx, br_dtype type, int64_t n, int64_t rows, int64_t width, const int32_t *ids,
                    const void *updates, int32_t accumulate, void *out);

// Start and wait for a collective, by its index in br_model.collectives.  The rank's communication
// thread runs collectives in the order of their starts.  The program must not touch a collective's
// memory before its wait.
br_status br_start(br_context *ctx, int32_t index);
br_status br_wait(br_context *ctx, int32_t index);

// Start and wait for a transfer, by its index in br_model.transfers.  Transfers in one direction
// run one after the other, in the order of their starts.  The program must not touch a transfer's
// memory before its wait.
br_status br_start_transfer(br_context *ctx, int32_t index);
br_status br_wait_transfer(br_context *ctx, int32_t index);

// Returns the rank's number in its group of kind `group`.
int32_t br_axis_index(br_context *ctx, int32_t group);

#ifdef __cplusplus
}
#endif
#endif // BRAID_RT_H
