//===- braid_rt.h - the C ABI between generated programs and the runtime --===//
//
// A compiled model is one `br_model`: a table of persistent tensors, a few
// entry points (`train`, `accumulate`, `eval`, `generate`) and the byte size of
// the arena that holds everything.  The runtime owns the arena and the threads,
// fills inputs and run-time scalars at the offsets the compiler chose, and calls
// the entry points.  Generated code calls back only for threads and for the
// library calls below.
//
// A model may be the program of many ranks, all of which run the same code on
// their parts of the tensors.  Nothing in the tables depends on the rank; ranks that
// run other code have a br_model of their own.
//
// Conventions: opaque handles, `br_status` returns, outputs last.  Offsets and
// sizes are bytes from the start of the arena; strides are in elements.
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

// A group is a list of axes, major to minor, by their places in the mesh: the
// ranks that differ in these coordinates alone, numbered row-major over the list.
// Every rank is in one group of each kind.
typedef struct {
  int32_t n_axes;
  int32_t axes[BR_MAX_AXES];
} br_group;

// One tensor of a collective; `count` and the rows are those of br_segment.  Where send_slots or
// recv_slots is i + 1, the place is in br_model.slots[i], and the offset that in the first slot.
typedef struct {
  uint64_t send, recv;
  int64_t count;
  int32_t send_rows, recv_rows;
  int32_t send_slots, recv_slots;
} br_segment_desc;

// A collective of a program.  Each that a program starts has a descriptor of its
// own, so that its ticket has a place.
typedef struct {
  br_collective kind;
  br_reduction reduction;
  br_dtype dtype;
  int32_t group;        // in br_model.groups
  int32_t root;         // of broadcast, reduce, gather, scatter; peer of send, recv
  const int32_t *pairs; // of permute: source, target, source, target, ...
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

// What a tensor that lives across steps is for.  Gradients are their sums over microbatches.
typedef enum { BR_PARAMETERS = 0, BR_GRADIENTS = 1, BR_OPTIMIZER_STATE = 2 } br_category;

// A tensor that lives across steps.  `shape` is the logical shape of the whole
// tensor, which is what checkpoints hold; `stride` says how the arena stores it
// (n x k weights).  Random initial values are a function of (seed, stream, logical
// index) only.
//
// A rank may hold a part.  Dim i is sharded in equal blocks over the group dims[i]:
// the rank holds the block with its number in that group.  `stride` is that of
// this block.  Where fused[i] is 2 or more, dim i has so many equal parts side by side,
// as [q|k|v] in one matrix, and each of them is sharded in this way: the rank's block
// is its blocks of all parts, one behind the other.
//
// If the group `flat` has more than one rank, the block in the order of its strides
// (largest first) is padded and sharded once more, in ranges of ceil(elements / ranks),
// and the rank holds its range, contiguous.  Group 0 is always the rank alone: a dim, or
// range, of group 0 is not sharded.
//
// The logical tensor is the sum of what the ranks of the group `partial` hold: an
// accumulator of gradients that are not reduced yet (group 0: not a sum).
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
  int32_t checkpoint;              // 0: left out of checkpoints (accumulators)
  int32_t dims[BR_MAX_RANK], flat; // groups that it is sharded over
  int32_t partial;                 // group that it is a sum over
  int32_t fused[BR_MAX_RANK];      // parts side by side in each dim; 0: the dim is one
  const char *copy_of; // the tensor whose values it has, in its own type, however either is sharded; null: none
  int32_t on_host;     // 1: in the host's memory beside the arena of a device, where `offset` is
  // Where ranks hold different tensors: the first of the holders are those with coordinate `at` along axis
  // `at_axis` - 1 of the mesh.  0: all hold it.
  int32_t at_axis, at;
} br_tensor;

// An input, a result or a run-time scalar of one program.  `shape` is logical; the
// rank's part (see br_tensor) is contiguous, `bytes` long.
// `role` is the contract with the training loop:
//   inputs   tokens, targets (i32 [B,S], or f32 of any shape for regression
//            models: role "features"/"labels"), lr (f32 scalar), step (i32
//            scalar, 1 for the first step), key (i32[4]: seed low, seed high,
//            step, microbatch), position (i32 scalar)
//   results  loss (f32 scalar), grad_norm (f32 scalar), logits (f32[V]) or any
//            name that the graph asked to keep
// The numbers of an input that the program indexes with are those of [0, extent), or
// `ignored` (0 if nothing is ignored): of others it makes garbage, so data is checked.
// An extent of 0: they are no indices.
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

// An action of a program: what stands in errors, profiles and traces.
typedef struct {
  const char *name;                  // for people: "matmul -> h.0.mlp [256 x 3072]; gpt.mlir:40"
  const char *op;                    // "matmul", "launch", "start"
  const char *kernel;                // what actions of the same sort share: "layer_norm", "matmul 256 x 3072 x 768"
  const char *unit, *phase;          // "h.0", "forward"; null: none
  br_dtype type;                     // of the matrices that it multiplies
  double matrix_flops, vector_flops; // of matmuls, and of everything else
  int64_t bytes;                     // that it reads and writes, each operand and result once
} br_action_desc;

// `run` fails when communication does; br_comm_error says why.
typedef struct {
  const char *name; // "train", "accumulate", "eval", "generate", "agree"
  br_status (*run)(br_context *);
  const br_io *ios;
  int32_t n_inputs, n_results; // ios holds the inputs, then the results
  const br_action_desc *actions;
  int32_t n_actions;
} br_program;

// One tensor of a transfer: its places in the arena and in the host's memory.
typedef struct {
  uint64_t device, host, bytes;
} br_transfer_part;

// A copy of tensors between the arena of a device and the host's memory beside it.  Each that a
// program starts has a descriptor of its own.
typedef struct {
  int32_t to_host; // else from there
  const br_transfer_part *parts;
  int32_t n_parts;
} br_transfer_desc;

// Equal places one behind the other, for what several microbatches of a pipeline have each: `count` of `bytes`.
// A program on microbatch i uses the slot of_microbatch[i].
typedef struct {
  int64_t bytes;
  const int32_t *of_microbatch;
  int32_t n_microbatches;
} br_slots;

// What a rank of a pipeline does in a step, before it runs `train`: runs a program on a microbatch, or starts a
// message, or waits for one.
typedef enum { BR_CELL_RUN, BR_CELL_START, BR_CELL_WAIT } br_cell_kind;
typedef struct {
  br_cell_kind kind;
  int32_t index; // of a program, or of a collective
  int32_t microbatch;
} br_cell;

// A loss that leaves out targets that are `ignored`.
typedef struct {
  const char *targets; // the input's name; i32
  int32_t ignored;
  br_reduction reduction; // BR_MEAN of the targets that count, or BR_SUM
  int32_t rows;           // 1: a row of the batch whose targets are all ignored changes nothing, whatever is in it
} br_loss;

struct br_matmul_desc;
struct br_attention_desc;

typedef struct br_model {
  uint32_t abi_version;
  const char *name;
  const char *target;  // what runs it: "cuda:sm_90"; "cpu" or null
  uint64_t graph_hash; // of what checkpoints hold: names, shapes and types of tensors, and the optimizer's name
  uint64_t arena_bytes;
  int32_t accumulate; // microbatches a step (K): K-1 x accumulate, then train; with cells: these, then train
  int64_t vocab_size; // rows of the embedding table read by `tokens`; 0: none
  const br_tensor *tensors;
  int32_t n_tensors;
  const br_program *programs;
  int32_t n_programs;
  const struct br_matmul_desc *matmuls;
  int32_t n_matmuls;
  const char *plan_json;    // the memory plan, as --report writes it
  const char *cpu_features; // what the code was compiled for, "avx512f avx2 ..."
  const br_axis *mesh;      // none: one rank
  int32_t n_axes;
  const br_group *groups; // the first is the rank alone, without axes
  int32_t n_groups;
  const br_collective_desc *collectives;
  int32_t n_collectives;
  // The most CTAs that a collective has on a GPU, each on a multiprocessor that computes nothing else meanwhile; 0: as
  // many as the library of collectives chooses.
  int32_t comm_ctas;
  const br_loss *loss; // null: every target counts
  // The ranks with these coordinates along an axis run this model, others another of
  // the list: the same mesh, groups and names of programs, tensors and an arena of its
  // own.  No coordinates: all ranks.
  int32_t axis;
  const int32_t *coordinates;
  int32_t n_coordinates;
  const struct br_model *others; // the next; null after the last
  const struct br_attention_desc *attentions;
  int32_t n_attentions;
  const char *optimizer; // its name, then its settings: "adamw beta1=0.9 eps=1e-08"; null where it is not known
  uint64_t host_bytes;   // of the host's memory beside the arena of a device; 0: none
  const br_transfer_desc *transfers;
  int32_t n_transfers;
  // The device that it was compiled for, and its FLOPs a second in f32 and in bf16 by the data sheet; null and 0 where
  // they are not known.
  const char *peak_device;
  double peak_flops, peak_half_flops;
  const char *config; // the text of the model's config.json; null: none
  const br_slots *slots;
  int32_t n_slots;
  const br_cell *cells; // none: the model is not cut in stages
  int32_t n_cells;
  // The operations of the forward graph, which shapes do not show (heads, epsilons, activations): a hash, and a line
  // for each kind with how many there are.  The same for every batch, mesh and target; 0 and null where they are not
  // known.
  uint64_t model_hash;
  const char *operations;
} br_model;

// The training binary's whole main: parses the command line and runs.
int br_main(int argc, char **argv, const br_model *model);

// Starts the program once more with a short spin at barriers, unless the
// environment sets one (GOMP_SPINCOUNT, OMP_WAIT_POLICY).  Call it first in main.
void br_limit_spinning(char **argv);

// Makes the target known that a program was compiled for; main calls it before br_main.
// Other targets have such a call of their own (cuda/braid_cuda.h).
void br_use_cpu(void);

//===----------------------------------------------------------------------===//
// What generated code calls
//===----------------------------------------------------------------------===//

// The arena's first byte, in the memory of what runs the model (64-byte aligned at
// least).
void *br_arena(br_context *ctx);

// How far the slot that the running program uses is behind the first, by the place in br_model.slots.
int64_t br_slot(br_context *ctx, int32_t slots);

// Whether somebody wants to know when actions begin (--profile, --trace): then the program says so.
int br_is_measured(br_context *ctx);

// Says that action `index` of the running program comes next.
void br_action(br_context *ctx, int32_t index);

// Runs fn(arg, begin, end) over a fixed partition of [0, count) into contiguous
// ranges, one a thread; returns when all are done.
void br_parallel(br_context *ctx, int64_t count, void (*fn)(void *arg, int64_t begin, int64_t end), void *arg);

typedef enum {
  BR_EPILOGUE_NONE,
  BR_EPILOGUE_GELU_TANH,
  BR_EPILOGUE_GELU_ERF,
  BR_EPILOGUE_SILU,
  BR_EPILOGUE_GELU_TANH_GRAD // times the derivative of GELU by tanh at `aux`
} br_epilogue;

// Whose sum is the gradient of a bias.
typedef enum { BR_BIAS_GRAD_NONE = 0, BR_BIAS_GRAD_A, BR_BIAS_GRAD_B } br_bias_grad;

// A matrix of a matmul: from a row to the next, from a column to the next, one of which
// is 1, and from a round of each loop to the next (0 broadcasts).
typedef struct br_matrix {
  br_dtype type;
  int64_t row_stride, column_stride;
  int64_t batch_strides[BR_MAX_LOOPS], outer_strides[BR_MAX_LOOPS];
} br_matrix;

// C[m,n] (+)= epilogue(sum over k and the outer loops of A[m,k] * B[k,n] + bias[n]) + addend[m,n].
// `batch` loops run over independent matrices; `outer` loops are contraction dims that
// do not collapse with k: their GEMMs add into the same C, in order.
// `accumulate` adds to the old C (beta = 1).
// `addend` is a matrix of C's type: C itself, or apart from it.  It comes without outer loops, and with
// no other epilogue than a bias.
// `aux` is a matrix like C, in rows of `aux_m` elements of C's type, for training:
// GELU keeps there what it is applied to, which its gradient reads.
// `bias_grad` is a vector of C's type, contiguous, for the gradient of a bias: the sum
// of A over k (m elements) or of B (n elements), whether C accumulates or not.
typedef struct br_matmul_desc {
  int64_t m, n, k;
  int32_t n_batch;
  int64_t batch[BR_MAX_LOOPS]; // rounds of each loop
  int32_t n_outer;
  int64_t outer[BR_MAX_LOOPS];
  br_matrix a, b, c;
  int32_t has_bias; // bias[n], of bias_type, contiguous
  br_dtype bias_type;
  int32_t has_addend;
  br_matrix addend;
  int32_t accumulate;
  br_epilogue epilogue;
  uint64_t workspace_offset, workspace_bytes; // the bytes are this call's, the region is shared between calls
  int32_t has_aux;
  int64_t aux_m;
  uint64_t aux_offset;
  int32_t aux_slots; // i + 1: in br_model.slots[i]
  br_bias_grad bias_grad;
  uint64_t bias_grad_offset;
  int32_t beside_collective; // on a GPU: leaves multiprocessors to the CTAs of a collective
  int32_t copy_b;            // on a CPU: B of bf16 is copied into the library's layout once, before the product
} br_matmul_desc;

// `index` is the descriptor's place in br_model.matmuls: implementations are
// chosen once, at start, for the thread count in use.
void br_matmul(br_context *ctx, int32_t index, const void *a, const void *b, void *c, const void *bias,
               const void *addend);

// How the gradient of attention adds up dq: in any order, in a fixed one, or in a fixed one
// without memory for the gradient of the scores.
typedef enum { BR_ORDER_ANY, BR_ORDER_FIXED, BR_ORDER_SERIAL } br_sum_order;

// o = softmax(scale q k^T) v for each batch and head, and lse, the logarithm of the
// softmax's divisor: f32 [batch, heads, queries], contiguous.  Query head h reads key
// head h / (heads / key_heads).  With `causal` position s reads positions t <= s + first, the last
// `window` of them if that is not 0.  Documents are numbers of `positions` positions of a row.  A softcap c makes
// scores c tanh(s / c), and 0 leaves them. Strides are those of batch, sequence and heads, in elements; along `size` it
// is 1.
typedef struct br_attention_desc {
  int64_t batch, heads, key_heads, queries, keys, size;
  int64_t q[3], k[3], v[3], o[3];
  int32_t gradient; // whether it is one of br_attention_grad
  int64_t dout[3], dq[3], dk[3], dv[3];
  br_sum_order order;
  br_dtype type; // of all but lse
  double scale, softcap;
  int32_t causal;
  int64_t window, first, positions;
  uint64_t workspace_offset, workspace_bytes; // the bytes are this call's, the region is shared between calls
} br_attention_desc;

// `index` is the descriptor's place in br_model.attentions.
void br_attention(br_context *ctx, int32_t index, const void *q, const void *k, const void *v, void *o, void *lse);
void br_attention_grad(br_context *ctx, int32_t index, const void *q, const void *k, const void *v, const void *o,
                       const void *lse, const void *dout, void *dq, void *dk, void *dv);

// out[i, :] = table[ids[i], :] for n ids; rows of `width` elements.
void br_gather(br_context *ctx, br_dtype type, int64_t n, int64_t rows, int64_t width, const void *table,
               const int32_t *ids, void *out);

// out = 0 (unless accumulate); out[ids[i], :] += updates[i, :] in order of i:
// same bits for any thread count.
void br_scatter_add(br_context *ctx, br_dtype type, int64_t n, int64_t rows, int64_t width, const int32_t *ids,
                    const void *updates, int32_t accumulate, void *out);

// Collectives, by their place in br_model.collectives.  They go to the rank's
// communication thread in the order of their starts; until its wait the memory of
// a collective is not touched.
br_status br_start(br_context *ctx, int32_t index);
br_status br_wait(br_context *ctx, int32_t index);

// Transfers, by their place in br_model.transfers.  Those in one direction go one after the other, in
// the order of their starts; until its wait the memory of a transfer is not touched.
br_status br_start_transfer(br_context *ctx, int32_t index);
br_status br_wait_transfer(br_context *ctx, int32_t index);

// The rank's number in its group of this kind.
int32_t br_axis_index(br_context *ctx, int32_t group);

#ifdef __cplusplus
}
#endif
#endif // BRAID_RT_H
