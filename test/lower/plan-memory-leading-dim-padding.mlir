// Rows of 1001 numbers of four bytes begin at no multiple of 16 bytes: they are padded.
// RUN: braid-opt %s --pass-pipeline="builtin.module(exec-set-target{name=cuda},func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-verify-plan)" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: braid-opt %t.mlir --exec-verify-plan | diff - %t.mlir
// RUN: braid-interp %s --compare --function=logits --pipeline="exec-set-target{name=cuda},func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=reshaped --pipeline="exec-set-target{name=cuda},func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=accumulated --pipeline="exec-set-target{name=cuda},func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=leaves --pipeline="exec-set-target{name=cuda},func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=over_concat --pipeline="exec-set-target{name=cuda},func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=reduced --pipeline="exec-set-target{name=cuda},func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-verify-plan"

// On a CPU to lines of 64 bytes, and not if switched off.
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory)" | FileCheck %s --check-prefix=LINES
// LINES: exec.ref @b{{[0-9]+}} + 0 : <2x3x1001xf32, [3024, 1008, 1]>
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory{row-alignment=0})" | FileCheck %s --check-prefix=CLOSE
// RUN: braid-opt %s --pass-pipeline="builtin.module(exec-set-target{name=cuda},func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory{row-alignment=0})" | FileCheck %s --check-prefix=CLOSE
// CLOSE-NOT: padding
// RUN: not braid-opt %s --exec-plan-memory=row-alignment=48 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: error: invalid row alignment 48: expected a power of two from 16 to the 64 bytes at which buffers begin, or 0 for none
// RUN: not braid-opt %s --exec-plan-memory=row-alignment=1152921504606846976 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: option 'row-alignment' of pass: '1152921504606846976' is not valid, expected an integer from -1 to 1048576

comm.mesh @mesh [dp = 2]

// All actions write and read the logits by rows.  The probabilities are written over them;
// the caller reads the result, which is not padded.
// CHECK-LABEL: exec.program @logits
// CHECK:       exec.buffer @[[L:[a-z0-9]+]] at {{[0-9]+}} bytes 24576 {{.*}} padding 552
// CHECK-NOT:   padding
// CHECK:       %[[R:[0-9]+]] = exec.ref @[[L]] + 0 : <2x3x1001xf32, [3072, 1024, 1]>
// CHECK:       exec.matmul {{.*}} outs(%[[R]] :
// CHECK:       exec.kernel "softmax"(%[[R]]) outs(%[[R]] :
// CHECK:       exec.matmul "bsv,vd->bsd"(%[[R]],
// CHECK:       exec.matmul "bsd,bsv->vd"({{.*}}, %[[R]])
func.func @logits(%x: tensor<2x3x8xf32> {tg.input = "x"}, %w: tensor<1001x8xf32> {tg.input = "w"})
    -> (tensor<2x3x8xf32> {tg.output = "y"}, tensor<1001x8xf32> {tg.output = "z"}) {
  %0 = tg.contract "bsd,vd->bsv" %x, %w : (tensor<2x3x8xf32>, tensor<1001x8xf32>) -> tensor<2x3x1001xf32>
  %1 = tg.softmax %0 : tensor<2x3x1001xf32>
  %2 = tg.contract "bsv,vd->bsd" %1, %w : (tensor<2x3x1001xf32>, tensor<1001x8xf32>) -> tensor<2x3x8xf32>
  %3 = tg.contract "bsd,bsv->vd" %x, %1 : (tensor<2x3x8xf32>, tensor<2x3x1001xf32>) -> tensor<1001x8xf32>
  return %2, %3 : tensor<2x3x8xf32>, tensor<1001x8xf32>
}

// Views of padded rows: all rows as one dim, or some of them.
// CHECK-LABEL: exec.program @reshaped
// CHECK:       padding 552
// CHECK:       exec.ref @{{.*}} + 0 : <2x3x1001xf32, [3072, 1024, 1]>
// CHECK:       exec.ref @{{.*}} + 0 : <6x1001xf32, [1024, 1]>
// CHECK:       exec.ref @{{.*}} + 4096 : <2x2x1001xf32, [3072, 1024, 1]>
// CHECK-NOT:   "copy"
func.func @reshaped(%x: tensor<2x3x8xf32> {tg.input = "x"}, %w: tensor<1001x8xf32> {tg.input = "w"})
    -> (tensor<6x8xf32> {tg.output = "y"}, tensor<2x2xf32> {tg.output = "z"}) {
  %0 = tg.contract "bsd,vd->bsv" %x, %w : (tensor<2x3x8xf32>, tensor<1001x8xf32>) -> tensor<2x3x1001xf32>
  %1 = tg.reshape %0 : tensor<2x3x1001xf32> -> tensor<6x1001xf32>
  %2 = tg.contract "tv,vd->td" %1, %w : (tensor<6x1001xf32>, tensor<1001x8xf32>) -> tensor<6x8xf32>
  %3 = tg.slice %0 dim 1 offset 1 size 2 : tensor<2x3x1001xf32> -> tensor<2x2x1001xf32>
  %4 = tg.reduce max %3 dims [2] : tensor<2x2x1001xf32> -> tensor<2x2xf32>
  return %2, %4 : tensor<6x8xf32>, tensor<2x2xf32>
}

// Matmuls accumulate in place, in padded rows.
// CHECK-LABEL: exec.program @accumulated
// CHECK:       padding 276
// CHECK-NOT:   padding
// CHECK:       exec.matmul "sd,vd->sv"({{.*}}) outs(%[[S:[0-9]+]] : !exec.ref<3x1001xf32, [1024, 1]>)
// CHECK:       exec.matmul "sd,vd->sv"({{.*}} acc %[[S]] : {{.*}}) outs(%[[S]] :
func.func @accumulated(%x: tensor<3x8xf32> {tg.input = "x"}, %w: tensor<1001x8xf32> {tg.input = "w"},
                       %v: tensor<1001x8xf32> {tg.input = "v"}) -> (tensor<3x8xf32> {tg.output = "y"}) {
  %0 = tg.contract "sd,vd->sv" %x, %w : (tensor<3x8xf32>, tensor<1001x8xf32>) -> tensor<3x1001xf32>
  %1 = tg.contract "sd,vd->sv" %x, %v : (tensor<3x8xf32>, tensor<1001x8xf32>) -> tensor<3x1001xf32>
  %2 = arith.addf %0, %1 : tensor<3x1001xf32>
  %3 = tg.contract "sv,vd->sd" %2, %w : (tensor<3x1001xf32>, tensor<1001x8xf32>) -> tensor<3x8xf32>
  return %3 : tensor<3x8xf32>
}

// Not padded: rows that are aligned; short rows, whose padding would be more than a
// sixteenth; a single row; rows that a kernel treats like any other elements; rows that a
// matmul collapses with the dims before them.
// CHECK-LABEL: exec.program @leaves
// CHECK-NOT:   padding
// CHECK-LABEL: exec.program @over_concat
func.func @leaves(%x: tensor<2x3x8xf32> {tg.input = "x"}, %aligned: tensor<1000x8xf32> {tg.input = "a"},
                  %short: tensor<17x8xf32> {tg.input = "s"}, %long: tensor<1001x8xf32> {tg.input = "l"},
                  %one: tensor<1x8xf32> {tg.input = "o"}, %deep: tensor<3x1001x5xf32> {tg.input = "d"})
    -> (tensor<2x3x8xf32> {tg.output = "y0"}, tensor<2x3x8xf32> {tg.output = "y1"}, tensor<1x8xf32> {tg.output = "y2"},
        tensor<2x3x8xf32> {tg.output = "y3"}, tensor<2x5xf32> {tg.output = "y4"}) {
  %a = tg.contract "bsd,vd->bsv" %x, %aligned : (tensor<2x3x8xf32>, tensor<1000x8xf32>) -> tensor<2x3x1000xf32>
  %ya = tg.contract "bsv,vd->bsd" %a, %aligned : (tensor<2x3x1000xf32>, tensor<1000x8xf32>) -> tensor<2x3x8xf32>
  %s = tg.contract "bsd,vd->bsv" %x, %short : (tensor<2x3x8xf32>, tensor<17x8xf32>) -> tensor<2x3x17xf32>
  %ys = tg.contract "bsv,vd->bsd" %s, %short : (tensor<2x3x17xf32>, tensor<17x8xf32>) -> tensor<2x3x8xf32>
  %o = tg.contract "sd,vd->sv" %one, %long : (tensor<1x8xf32>, tensor<1001x8xf32>) -> tensor<1x1001xf32>
  %yo = tg.contract "sv,vd->sd" %o, %long : (tensor<1x1001xf32>, tensor<1001x8xf32>) -> tensor<1x8xf32>
  %l = tg.contract "bsd,vd->bsv" %x, %long : (tensor<2x3x8xf32>, tensor<1001x8xf32>) -> tensor<2x3x1001xf32>
  %t = math.tanh %l : tensor<2x3x1001xf32>
  %yl = tg.contract "bsv,vd->bsd" %t, %long : (tensor<2x3x1001xf32>, tensor<1001x8xf32>) -> tensor<2x3x8xf32>
  %k = tg.contract "bsd,vd->bsv" %x, %long : (tensor<2x3x8xf32>, tensor<1001x8xf32>) -> tensor<2x3x1001xf32>
  %yk = tg.contract "bsv,svd->bd" %k, %deep : (tensor<2x3x1001xf32>, tensor<3x1001x5xf32>) -> tensor<2x5xf32>
  return %ya, %ys, %yo, %yl, %yk : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<1x8xf32>, tensor<2x3x8xf32>, tensor<2x5xf32>
}

// Operands of a concat are not padded, so the softmax written over them is not padded.
// CHECK-NOT:   padding
// CHECK:       exec.kernel "softmax"(%[[P:[0-9]+]]) outs(%[[P]] : !exec.ref<4x1001xf32, [1001, 1]>)
// CHECK-NOT:   "copy"
// CHECK-LABEL: exec.program @reduced
func.func @over_concat(%x: tensor<2x8xf32> {tg.input = "x"}, %z: tensor<2x8xf32> {tg.input = "z"},
                       %w: tensor<1001x8xf32> {tg.input = "w"}) -> (tensor<4x8xf32> {tg.output = "y"}) {
  %0 = tg.contract "sd,vd->sv" %x, %w : (tensor<2x8xf32>, tensor<1001x8xf32>) -> tensor<2x1001xf32>
  %1 = tg.contract "sd,vd->sv" %z, %w : (tensor<2x8xf32>, tensor<1001x8xf32>) -> tensor<2x1001xf32>
  %2 = tg.concat %0, %1 dim 0 : (tensor<2x1001xf32>, tensor<2x1001xf32>) -> tensor<4x1001xf32>
  %3 = tg.softmax %2 : tensor<4x1001xf32>
  %4 = tg.contract "sv,vd->sd" %3, %w : (tensor<4x1001xf32>, tensor<1001x8xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// Operands and results of collectives are not padded, nor is what is written over them.
// CHECK-NOT:   padding
// CHECK:       comm.all_reduce sum %[[S:[0-9]+]] outs(%[[S]] :
// CHECK:       exec.kernel "softmax"(%[[S]]) outs(%[[S]] : !exec.ref<3x1001xf32, [1001, 1]>)
func.func @reduced(%x: tensor<3x8xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {} {dp}>, comm.global = tensor<3x16xf32>},
                   %w: tensor<1001x8xf32> {tg.input = "w", comm.sharding = #comm.sharding<@mesh, {} {dp}>, comm.global = tensor<1001x16xf32>})
    -> (tensor<3x8xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {} {dp}>, comm.global = tensor<3x16xf32>}) attributes {comm.program = #comm.program<@mesh>} {
  %0 = tg.contract "sd,vd->sv" %x, %w : (tensor<3x8xf32>, tensor<1001x8xf32>) -> tensor<3x1001xf32>
  %1 = comm.all_reduce sum %0 over @mesh {dp} : (tensor<3x1001xf32>) -> tensor<3x1001xf32>
  %2 = tg.softmax %1 : tensor<3x1001xf32>
  %3 = tg.contract "sv,vd->sd" %2, %w : (tensor<3x1001xf32>, tensor<1001x8xf32>) -> tensor<3x8xf32>
  return %3 : tensor<3x8xf32>
}
