// The order of sums of attention: as it is asked for, or by what a fixed one costs.
// RUN: split-file %s %t
// DEFINE: %{order} =
// DEFINE: %{arch} = sm_90
// DEFINE: %{file} = small
// DEFINE: %{run} = braid-opt %t/%{file}.mlir --pass-pipeline='builtin.module(exec-set-target{name=cuda arch=%{arch}},exec-order-attention{%{order}})'

// REDEFINE: %{order} = order=any
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=ANY --implicit-check-not=remark
// REDEFINE: %{order} = order=serial
// RUN: %{run} | FileCheck %s --check-prefix=SERIAL
// REDEFINE: %{order} = order=fixed
// RUN: %{run} | FileCheck %s --check-prefix=FIXED
// ANY: exec.attention_grad({{.*}}) scale 2.500000e-01 causal order any :
// SERIAL: causal order serial :
// FIXED: exec.attention_grad({{.*}}) scale 2.500000e-01 causal :

// Only some libraries have the serial order.
// REDEFINE: %{order} = order=serial
// REDEFINE: %{arch} = sm_80
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: small.mlir:2:{{.*}}error: the attention library of target 'cuda:sm_80' has no serial order: choose any or fixed
// REDEFINE: %{arch} = sm_100
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=NEW
// NEW: has no serial order: choose fixed, which takes no more memory here
// REDEFINE: %{order} = order=fast
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: 'fast'

// By itself: fixed where it costs neither time nor memory.
// REDEFINE: %{order} =
// REDEFINE: %{arch} = sm_90
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=FIXED --implicit-check-not=remark

// The scores of 4 heads are half of all memory and a third of all time; where the library does not write them, time alone counts.
// REDEFINE: %{file} = long
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: long.mlir:2:{{.*}}remark: gradients of attention are summed in any order, so their last bits differ from run to run: a fixed order would take 9.02 MiB of scratch memory instead of 2.02 MiB, an arena of {{.*}} MiB instead of {{.*}} MiB, and {{.*}} ms more than the predicted {{.*}} ms; a serial order costs time instead of memory, and needs cuDNN 9.25
// LONG: causal order any :
// REDEFINE: %{arch} = sm_100
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=TIME
// TIME: remark: gradients of attention are summed in any order, so their last bits differ from run to run: a fixed order would take {{[0-9.e-]+}} ms more than the predicted {{[0-9.e-]+}} ms{{$}}
// TIME: causal order any :
// REDEFINE: %{arch} = sm_80
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=AMPERE --implicit-check-not=serial
// AMPERE: remark: gradients of attention are summed in any order

// The same beside much else, and with a limit on either side of what it takes.
// REDEFINE: %{arch} = sm_90
// REDEFINE: %{file} = beside
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=BESIDE
// REDEFINE: %{order} = memory-limit=275MiB
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=BESIDE
// BESIDE: beside.mlir:{{.*}}remark: gradients of attention are summed in a fixed order, so their bits are the same in every run: it takes 9.02 MiB of scratch memory instead of 2.02 MiB, an arena of 267 MiB instead of 260 MiB, and 0.0{{[0-9]+}} ms more than the predicted 0.{{[0-9]+}} ms
// BESIDE: exec.attention_grad({{.*}}) scale 2.500000e-01 causal :
// REDEFINE: %{order} = memory-limit=264MiB
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: remark: gradients of attention are summed in any order, {{.*}} ms; the memory limit is 264 MiB
// LIMIT: causal order any :
// REDEFINE: %{order} = memory-limit=lots
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: invalid memory limit 'lots': expected a number of bytes
// REDEFINE: %{order} =
// REDEFINE: %{arch} = sm_100
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=FIXED --implicit-check-not=remark

// Beside little, a fixed order is a sixth of all time, though its scratch memory fits below the peak.
// REDEFINE: %{arch} = sm_90
// REDEFINE: %{file} = less
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: remark: gradients of attention are summed in any order, {{.*}} an arena of 129 MiB instead of 129 MiB, and 0.001{{[0-9]+}} ms more than the predicted 0.0{{[0-9]+}} ms;
// LESS: causal order any :

// More scores than the library counts.
// REDEFINE: %{file} = many
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: remark: gradients of attention are summed in any order, {{.*}}: the scores whose gradient is written for a fixed order would be 2147483648, above the largest number of the library

//--- small.mlir
func.func @f(%q: tensor<1x64x4x64xbf16> {tg.input = "q"}, %lse: tensor<1x4x64xf32> {tg.input = "lse"}) -> (tensor<1x64x4x64xbf16> {tg.output = "dq"}) {
  %dq, %dk, %dv = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal
      : (tensor<1x64x4x64xbf16>, tensor<1x64x4x64xbf16>, tensor<1x64x4x64xbf16>, tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>) -> tensor<1x64x4x64xbf16>, tensor<1x64x4x64xbf16>, tensor<1x64x4x64xbf16>
  return %dq : tensor<1x64x4x64xbf16>
}
//--- long.mlir
func.func @f(%q: tensor<1x1024x4x64xbf16> {tg.input = "q"}, %lse: tensor<1x4x1024xf32> {tg.input = "lse"}) -> (tensor<1x1024x4x64xbf16> {tg.output = "dq"}) {
  %dq, %dk, %dv = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal
      : (tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>, tensor<1x4x1024xf32>, tensor<1x1024x4x64xbf16>) -> tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>
  return %dq : tensor<1x1024x4x64xbf16>
}
//--- beside.mlir
func.func @f(%q: tensor<1x1024x4x64xbf16> {tg.input = "q"}, %lse: tensor<1x4x1024xf32> {tg.input = "lse"}, %x: tensor<65536x1024xbf16> {tg.input = "x"},
             %i: tensor<65536xi32> {tg.input = "i"}, %j: tensor<4xi32> {tg.input = "j"}) -> (tensor<1x1024x4x64xbf16> {tg.output = "dq"}, tensor<65536x1024xbf16> {tg.output = "y"}, tensor<4x1024xbf16> {tg.output = "z"}) {
  %y = exec.gather(%x, %i) : (tensor<65536x1024xbf16>, tensor<65536xi32>) -> tensor<65536x1024xbf16>
  %dq, %dk, %dv = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal
      : (tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>, tensor<1x4x1024xf32>, tensor<1x1024x4x64xbf16>) -> tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>
  %z = exec.gather(%x, %j) : (tensor<65536x1024xbf16>, tensor<4xi32>) -> tensor<4x1024xbf16>
  return %dq, %y, %z : tensor<1x1024x4x64xbf16>, tensor<65536x1024xbf16>, tensor<4x1024xbf16>
}
//--- less.mlir
func.func @f(%q: tensor<1x1024x4x64xbf16> {tg.input = "q"}, %lse: tensor<1x4x1024xf32> {tg.input = "lse"}, %x: tensor<65536x1024xbf16> {tg.input = "x"},
             %i: tensor<4xi32> {tg.input = "i"}) -> (tensor<1x1024x4x64xbf16> {tg.output = "dq"}, tensor<4x1024xbf16> {tg.output = "y"}) {
  %y = exec.gather(%x, %i) : (tensor<65536x1024xbf16>, tensor<4xi32>) -> tensor<4x1024xbf16>
  %dq, %dk, %dv = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal
      : (tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>, tensor<1x4x1024xf32>, tensor<1x1024x4x64xbf16>) -> tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>, tensor<1x1024x4x64xbf16>
  return %dq, %y : tensor<1x1024x4x64xbf16>, tensor<4x1024xbf16>
}
//--- many.mlir
func.func @f(%q: tensor<2x32768x1x8xbf16> {tg.input = "q"}, %lse: tensor<2x1x32768xf32> {tg.input = "lse"}) -> (tensor<2x32768x1x8xbf16> {tg.output = "dq"}) {
  %dq, %dk, %dv = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal
      : (tensor<2x32768x1x8xbf16>, tensor<2x32768x1x8xbf16>, tensor<2x32768x1x8xbf16>, tensor<2x32768x1x8xbf16>, tensor<2x1x32768xf32>, tensor<2x32768x1x8xbf16>) -> tensor<2x32768x1x8xbf16>, tensor<2x32768x1x8xbf16>, tensor<2x32768x1x8xbf16>
  return %dq : tensor<2x32768x1x8xbf16>
}
