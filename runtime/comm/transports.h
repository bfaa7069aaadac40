//===- transports.h - transports linked into a program --------------------===//
//
// `threads` and `shm` are part of libbraid_rt.a. The others are separate archives; a program has those that
// its main registers before br_main. --transport, or the launcher that started the process, selects the
// transport of a run.
//
//   braid_rt_gloo   -DBRAID_WITH_GLOO   libbraid_rt_gloo.a   -lgloo
//   braid_rt_mpi    -DBRAID_WITH_MPI    libbraid_rt_mpi.a    Open MPI's -lmpi
//   braid_rt_nccl   -DBRAID_WITH_NCCL   libbraid_rt_nccl.a   -lnccl (of programs for GPUs)
//
// (the archives go before libbraid_rt.a on the link line).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_TRANSPORTS_H
#define BRAID_COMM_TRANSPORTS_H

#ifdef __cplusplus
extern "C" {
#endif

void br_use_gloo(void);
void br_use_mpi(void);
void br_use_nccl(void);

#ifdef __cplusplus
}
#endif
#endif // BRAID_COMM_TRANSPORTS_H
