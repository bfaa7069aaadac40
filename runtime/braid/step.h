/*===- braid/step.h - a compiled training step as a library ---------------===*\
 *
 * `braidc graph.mlir --emit=lib -o libstep.so` writes a shared library with these functions.  One
 * library is one model.  A `braid_step` is one rank of it: its memory, its programs and its place
 * among the other ranks.  The job is the caller's: data, learning rates, logs, and when to save.
 *
 *     braid_step *step;
 *     if (braid_create(NULL, &step) != BRAID_OK)
 *       return puts(braid_error()), 1;
 *     for (...) {
 *       braid_set_input(step, "tokens", 0, BRAID_I64, tokens, BRAID_WHOLE);
 *       braid_set_input(step, "targets", 0, BRAID_I64, targets, BRAID_WHOLE);
 *       if (braid_train(step, 3e-4f, &result) != BRAID_OK)
 *         ...
 *     }
 *     braid_destroy(step);
 *
 * Errors.  A function that returns BRAID_ERROR has written no result; braid_error() describes it.
 * Pointers must not be null unless their function says so.  A null pointer, an unknown enumerator, or a
 * number out of its range is an error.  A function that counts returns 0 for a null step.
 * No function prints, exits, or installs a signal handler.  A call that cannot
 * begin, such as a run without its inputs, changes nothing.  If a run fails (another rank ended, a
 * device failed), every later call returns its error: destroy the braid_step, and load a checkpoint
 * into a new one.
 *
 * Threads.  One thread at a time may use a braid_step, and it need not be always the same.
 *
 * Forks.  A forked child can create steps of its own on the CPU; CUDA refuses children of a process that
 * used it.  A child cannot use the steps of its parent.  No other thread may run a function of the library
 * during the fork.
 *
 * Types.  Functions that take a braid_type convert each element:
 *   - a float to a float type: rounded to nearest even;
 *   - an integer or a boolean to an integer type: an error unless the type holds the number;
 *   - an integer to a boolean: an error unless the number is 0 or 1;
 *   - an integer or a boolean to a float type: rounded;
 *   - a float to an integer type or a boolean: an error.
 *
 * Ranks.  Every rank is a process of its own, and has the same library.  All ranks must call
 * braid_create, braid_accumulate, braid_train, braid_evaluate, braid_forward, braid_save,
 * braid_load, braid_load_weights and braid_destroy together, with the same rates and paths.
 *
 * Several models.  A process may open several libraries, each by dlopen(..., RTLD_LOCAL | RTLD_NOW).
 *
\*===----------------------------------------------------------------------===*/
#ifndef BRAID_STEP_H
#define BRAID_STEP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface; grows with each change that a compiled caller would notice. */
#define BRAID_STEP_VERSION 1
#define BRAID_MAX_DIMS 8

#if defined(__GNUC__)
#define BRAID_API __attribute__((visibility("default")))
#else
#define BRAID_API
#endif

typedef struct braid_step braid_step;
typedef enum { BRAID_OK = 0, BRAID_ERROR = 1 } braid_status;
typedef enum { BRAID_F64, BRAID_F32, BRAID_BF16, BRAID_I32, BRAID_I64, BRAID_BOOL, BRAID_I8 } braid_type;

/* Returns BRAID_STEP_VERSION of the library. */
BRAID_API uint32_t braid_version(void);

/* Returns the text of the last error of the calling thread; empty if there was none.  The text is
 * valid until the thread's next call. */
BRAID_API const char *braid_error(void);

/* Sets a function that gets warnings and notices of this library, one line each, from any thread; null, the
 * default, drops them. */
BRAID_API void braid_on_message(void (*receive)(void *user, const char *text), void *user);

/*===----------------------------------------------------------------------===*\
 * The model
\*===----------------------------------------------------------------------===*/

/* Facts of the model, the same on all ranks. */
typedef struct {
  const char *name;
  const char *target;    /* "cpu", "cuda:sm_90" */
  const char *optimizer; /* its name, then its settings: "adamw beta1=0.9 eps=1e-08" */
  const char *mesh;      /* "dp=2,tp=4"; empty for one rank */
  int32_t ranks;
  int32_t microbatches; /* in a step */
  int32_t has_eval, has_forward;
  const char *plan; /* the memory plan as JSON, as `braidc --report` writes it */
} braid_model;

BRAID_API braid_status braid_describe(braid_model *model);

/*===----------------------------------------------------------------------===*\
 * A rank
\*===----------------------------------------------------------------------===*/

/* Options of braid_create.  Zero is the default of each. */
typedef struct {
  uint32_t version;                /* BRAID_STEP_VERSION of the caller */
  int32_t ranks, rank;             /* 0: as the launcher of this process says (torchrun, mpirun, srun), else one rank */
  int32_t local_ranks, local_rank; /* on this host, if `ranks` is given; 0: all ranks are on this host */
  const char *rendezvous;          /* "tcp://HOST:PORT" or "file:///FOLDER"; null: as the launcher says */
  const char *job;                 /* name of this job and attempt, the same on all ranks; null: as the launcher says */
  const char *token;               /* secret that the ranks share; null: from BRAID_JOB_TOKEN */
  const char *transport;           /* "shm", "gloo", "mpi", "nccl"; null: chosen for the launcher and the target */
  double timeout;                  /* seconds to wait for other ranks, up to 1e8; 0: 300 */
  int32_t threads;                 /* of a rank on the CPU, up to 1024; 0: a fair share of the cores */
  int32_t device;                  /* number of the GPU plus one; 0: the rank's number on this host */
  uint64_t seed;                   /* of initial values and dropout; 0: 1 */
} braid_options;

/* Connects the ranks, allocates all memory, and initializes every tensor.  `options` may be null.  After an
 * error *step is null. */
BRAID_API braid_status braid_create(const braid_options *options, braid_step **step);
/* Frees everything.  `step` may be null. */
BRAID_API void braid_destroy(braid_step *step);

typedef struct {
  int32_t rank, ranks, threads;
  const char *transport; /* empty for one rank */
  uint64_t arena_bytes;  /* of the device or the host: the whole memory of the model */
  uint64_t host_bytes;   /* of the host beside a device's arena */
  int64_t step;          /* steps done since the first step of the job */
} braid_state;

BRAID_API braid_status braid_get_state(const braid_step *step, braid_state *state);

/*===----------------------------------------------------------------------===*\
 * Tensors that live across steps
\*===----------------------------------------------------------------------===*/

typedef enum { BRAID_PARAMETER, BRAID_GRADIENT, BRAID_OPTIMIZER_STATE } braid_category;

/* A part of a tensor in memory.  Element x is in the part if begin[i] <= x[i] < begin[i] + extent[i]
 * in every dim, and its position p, the sum of (x[i] - begin[i]) * stride[i], is in [first, last).
 * Its place is data + (p - first) * size of the type.
 *
 * If fused[i] is above 1, dim i is that many tensors of length[i] side by side, such as q, k and v
 * in one matrix, and the part has a block of each: x[i] counts from the start of one of them, and p
 * grows by extent[i] * stride[i] from one to the next.  A part with `is_whole` has every element at
 * data + sum of x[i] * stride[i]. */
typedef struct {
  const char *name;
  braid_category category;
  braid_type type;
  int32_t rank;                                                                  /* number of dims */
  int64_t shape[BRAID_MAX_DIMS];                                                 /* of the whole tensor */
  int64_t begin[BRAID_MAX_DIMS], extent[BRAID_MAX_DIMS], stride[BRAID_MAX_DIMS]; /* strides in elements */
  int64_t fused[BRAID_MAX_DIMS], length[BRAID_MAX_DIMS];
  int64_t first, last;
  int32_t is_whole;
  int32_t on_host; /* whether `data` is memory of the host */
  void *data;      /* stays until braid_destroy */
  uint64_t bytes;
  const char *copy_of; /* parameter with the same values, in another type or sharding; null: not a copy */
  int32_t in_checkpoint;
} braid_tensor;

BRAID_API int32_t braid_tensor_count(const braid_step *step);
BRAID_API braid_status braid_get_tensor(const braid_step *step, int32_t index, braid_tensor *tensor);

/* Writes a whole tensor, row-major, into the parts of this rank, and into all copies of it.  Every
 * rank must write the same values.  Converts from `type` to the tensor's type.  The number of elements
 * is not checked. */
BRAID_API braid_status braid_write_tensor(braid_step *step, const char *name, braid_type type, const void *values);
/* Copies this rank's part of a tensor to the host, at the same elements of a whole row-major tensor;
 * other elements stay.  Converts from the tensor's type to `type`. */
BRAID_API braid_status braid_read_tensor(braid_step *step, const char *name, braid_type type, void *values);
/* Must follow a write through braid_tensor.data of a parameter: renews the copies of parameters.
 * Refused if a copy is sharded otherwise than its parameter; use braid_write_tensor then. */
BRAID_API braid_status braid_renew_copies(braid_step *step);

/*===----------------------------------------------------------------------===*\
 * Inputs
\*===----------------------------------------------------------------------===*/

typedef struct {
  const char *name;
  const char *role; /* "tokens", "targets", "features", "labels"; "shared": no rows of the batch */
  braid_type type;
  int32_t rank;                                          /* number of dims */
  int64_t shape[BRAID_MAX_DIMS];                         /* of a microbatch over all ranks */
  int64_t begin[BRAID_MAX_DIMS], extent[BRAID_MAX_DIMS]; /* the part that this rank reads */
  int64_t limit, ignored;                /* indices must be in [0, limit), or equal `ignored`; limit 0: not indices */
  int32_t in_train, in_eval, in_forward; /* whether the program reads it */
} braid_input;

BRAID_API int32_t braid_input_count(const braid_step *step);
BRAID_API braid_status braid_get_input(const braid_step *step, int32_t index, braid_input *input);

/* Whether values are this rank's part, or the microbatch of all ranks; both row-major. */
typedef enum { BRAID_OWN_PART, BRAID_WHOLE } braid_extent;

/* Copies the values of an input of one microbatch, which later runs read until they are set again.
 * Converts from `type` to the input's type. */
BRAID_API braid_status braid_set_input(braid_step *step, const char *name, int32_t microbatch, braid_type type,
                                       const void *values, braid_extent extent);

/*===----------------------------------------------------------------------===*\
 * Runs
\*===----------------------------------------------------------------------===*/

typedef struct {
  int64_t step;    /* number of the step, from 1 */
  float loss;      /* of all ranks and microbatches */
  float grad_norm; /* over all parameters, before clipping; NaN if the model does not compute it */
} braid_result;

/* Adds the gradients of the next microbatch of a step, of which braid_train runs the last.  Refused
 * for pipelines, whose microbatches run together in braid_train. */
BRAID_API braid_status braid_accumulate(braid_step *step);
/* Runs the remaining microbatches of a step, and updates the parameters.  `lr` must be finite and not
 * negative.  `result` may be null. */
BRAID_API braid_status braid_train(braid_step *step, float lr, braid_result *result);
/* Computes the loss of microbatch 0 without dropout. */
BRAID_API braid_status braid_evaluate(braid_step *step, float *loss);
/* Computes the model's outputs for microbatch 0 without dropout. */
BRAID_API braid_status braid_forward(braid_step *step);

/* Scalars of the last braid_train beside the loss: counters and measured values, by index. */
BRAID_API int32_t braid_scalar_count(const braid_step *step);
BRAID_API braid_status braid_get_scalar(const braid_step *step, int32_t index, const char **name, float *value);

/* Outputs of the last braid_forward, in memory of the host until the next run. */
BRAID_API int32_t braid_output_count(const braid_step *step);
BRAID_API braid_status braid_get_output(braid_step *step, int32_t index, braid_tensor *output);

/*===----------------------------------------------------------------------===*\
 * Checkpoints, in the files of the training binaries
\*===----------------------------------------------------------------------===*/

/* Saves everything to `directory`, which all ranks see.  Keeps the newest `keep` checkpoints of this
 * job (0: all).  `path`, which may be null, gets the checkpoint's path, valid until the next save.
 * From the first save to braid_destroy, no other job can save there. */
BRAID_API braid_status braid_save(braid_step *step, const char *directory, int32_t keep, const char **path);
/* Restores everything, and the number of steps done, from a checkpoint of any mesh; or from the
 * newest checkpoint in a directory.  After an error, load again before the next run. */
BRAID_API braid_status braid_load(braid_step *step, const char *path);
/* Reads the parameters alone, from a checkpoint or from safetensors of other programs. */
BRAID_API braid_status braid_load_weights(braid_step *step, const char *path);

#ifdef __cplusplus
}
#endif
#endif /* BRAID_STEP_H */
