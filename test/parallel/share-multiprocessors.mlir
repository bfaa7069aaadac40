// Matmuls that the schedule runs beside a collective: those during which the link works for half of
// their time or longer, not all between its start and its wait.  A matmul takes 2 us here.
// RUN: braid-opt %s --exec-set-machine="link=1.5,1 compute=50000,2800" --comm-share-multiprocessors | FileCheck %s
// RUN: braid-opt %s --exec-set-machine="link=1.5,1 compute=50000,2800" --comm-share-multiprocessors=ctas=8 | FileCheck %s --check-prefix=EIGHT
// RUN: braid-opt %s --exec-set-machine="link=50,1 compute=50000,2800" --comm-share-multiprocessors | FileCheck %s --check-prefix=SLOW
// RUN: braid-opt %s --exec-set-machine="link=1.5,1 compute=0.0001,100" --comm-share-multiprocessors | FileCheck %s --check-prefix=LONG

// Twice gives the same; nobody is asked without a GPU, without ranks, or by ctas=0.
// RUN: braid-opt %s --exec-set-machine="link=1.5,1 compute=50000,2800" --comm-share-multiprocessors -o %t.once
// RUN: braid-opt %t.once --exec-set-machine="link=1.5,1 compute=50000,2800" --comm-share-multiprocessors | diff %t.once -
// RUN: braid-opt %s --exec-set-machine="link=1.5,1 compute=50000,2800" --comm-share-multiprocessors=ctas=0 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/#exec.target<.*sm_90">/#exec.target<"cpu">/' %s | braid-opt --exec-set-machine="link=1.5,1 compute=50000,2800" --comm-share-multiprocessors | FileCheck %s --check-prefix=NONE
// RUN: echo 'module attributes {exec.target = #exec.target<"cuda">} { exec.program @train arena 0 {} }' | braid-opt --comm-share-multiprocessors | FileCheck %s --check-prefix=NONE
// RUN: not braid-opt %s --comm-share-multiprocessors=ctas=33 2>&1 | FileCheck %s --check-prefix=CTAS

// CHECK: module attributes {comm.ctas = 16 : i64,
// EIGHT: module attributes {comm.ctas = 8 : i64,
// NONE-NOT: comm.ctas
// NONE-NOT: comm.beside_collective
// CTAS: 33
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  comm.mesh @mesh [dp = 2]

  // The all_reduce takes 3.3 us.
  // CHECK-LABEL: exec.program @between
  // CHECK: exec.matmul "ab,bc->ac"{{.*}}comm.beside_collective
  // CHECK: exec.matmul "de,ef->df"{{.*}}comm.beside_collective
  // CHECK: exec.matmul "gh,hi->gi"
  // CHECK-NOT: comm.beside_collective
  // CHECK: comm.wait
  // CHECK: exec.matmul "jk,kl->jl"
  // CHECK-NOT: comm.beside_collective

  // SLOW-LABEL: exec.program @between
  // SLOW-COUNT-3: comm.beside_collective
  // SLOW: comm.wait
  // SLOW-NOT: comm.beside_collective
  // SLOW: exec.program @plain

  // A matmul of 10 ms is beside a collective of 3 us for no time worth mentioning.
  // LONG-LABEL: exec.program @between
  // LONG-NOT: comm.beside_collective
  exec.program @between arena 1024 attributes {comm.program = #comm.program<@mesh>} {
    exec.buffer @g at 0 bytes 256 live 0 to 6 category gradients name "g"
    exec.buffer @x at 256 bytes 256 live 0 to 6 category activations name "x"
    exec.buffer @y at 512 bytes 256 live 0 to 6 category activations name "y"
    %g = exec.ref @g + 0 : !exec.ref<8x8xf32, [8, 1]>
    %x = exec.ref @x + 0 : !exec.ref<8x8xf32, [8, 1]>
    %y = exec.ref @y + 0 : !exec.ref<8x8xf32, [8, 1]>
    %t = comm.start {
      comm.all_reduce sum %g outs(%g : !exec.ref<8x8xf32, [8, 1]>) over @mesh {dp} : (!exec.ref<8x8xf32, [8, 1]>) -> ()
    } : !comm.ticket<>
    exec.matmul "ab,bc->ac" (%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
    exec.matmul "de,ef->df" (%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
    exec.matmul "gh,hi->gi" (%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
    comm.wait %t : !comm.ticket<>
    exec.matmul "jk,kl->jl" (%y, %g) outs(%x : !exec.ref<8x8xf32, [8, 1]>) : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
  }

  // What is waited for at once has nothing beside it.  Two collectives follow one another.
  // CHECK-LABEL: exec.program @plain
  // CHECK: exec.matmul "ab,bc->ac"
  // CHECK-NOT: comm.beside_collective
  // CHECK: comm.start
  // CHECK: comm.start
  // CHECK-COUNT-3: comm.beside_collective
  // CHECK-NOT: comm.beside_collective
  exec.program @plain arena 1024 attributes {comm.program = #comm.program<@mesh>} {
    exec.buffer @g at 0 bytes 256 live 0 to 9 category gradients name "g"
    exec.buffer @x at 256 bytes 256 live 0 to 9 category activations name "x"
    exec.buffer @y at 512 bytes 256 live 0 to 9 category activations name "y"
    exec.buffer @h at 768 bytes 256 live 0 to 9 category gradients name "h"
    %g = exec.ref @g + 0 : !exec.ref<8x8xf32, [8, 1]>
    %h = exec.ref @h + 0 : !exec.ref<8x8xf32, [8, 1]>
    %x = exec.ref @x + 0 : !exec.ref<8x8xf32, [8, 1]>
    %y = exec.ref @y + 0 : !exec.ref<8x8xf32, [8, 1]>
    comm.all_reduce sum %g outs(%g : !exec.ref<8x8xf32, [8, 1]>) over @mesh {dp} : (!exec.ref<8x8xf32, [8, 1]>) -> ()
    exec.matmul "ab,bc->ac" (%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
    %t = comm.start {
      comm.all_reduce sum %g outs(%g : !exec.ref<8x8xf32, [8, 1]>) over @mesh {dp} : (!exec.ref<8x8xf32, [8, 1]>) -> ()
    } : !comm.ticket<>
    %u = comm.start {
      comm.all_reduce sum %h outs(%h : !exec.ref<8x8xf32, [8, 1]>) over @mesh {dp} : (!exec.ref<8x8xf32, [8, 1]>) -> ()
    } : !comm.ticket<>
    exec.matmul "de,ef->df" (%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
    exec.matmul "gh,hi->gi" (%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
    exec.matmul "jk,kl->jl" (%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
    exec.matmul "mn,no->mo" (%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
    comm.wait %t : !comm.ticket<>
    comm.wait %u : !comm.ticket<>
  }
}
