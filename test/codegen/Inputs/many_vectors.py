#!/usr/bin/env python3
"""Writes a module in memory form with one kernel over many vectors of different lengths, in one launch of program
@train: w = w - 2 * g.

many_vectors.py COUNT
"""
import sys

count = int(sys.argv[1])
lengths = [1 + 97 * i % 5003 for i in range(count)]
print("""#id = affine_map<(i) -> (i)>
exec.kernel_def @sgd space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [0] {
^bb0(%w: tensor<1xf32>, %g: tensor<1xf32>):
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<1xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%w, %g : tensor<1xf32>, tensor<1xf32>) outs(%e : tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %b, %two : f32
    %t = arith.subf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<1xf32>
  exec.yield %y : tensor<1xf32>
}""")
at, lines, types = 0, [], {}
for kind in "wg":
    for i, length in enumerate(lengths):
        name, bytes = f"{kind}{i}", 4 * length
        if kind == "w":
            print(f'exec.tensor @{name} at {at} bytes {bytes} category parameters : tensor<{length}xf32> = #tg.param<"{name}", #tg.init<normal, 0.0, 1.0>>')
        else:
            lines.append(f'  exec.buffer @{name} at {at} bytes {bytes} live -1 to 1 category inputs name "{name}" "input" role "{name}" : tensor<{length}xf32>')
        types[name] = f"!exec.ref<{length}xf32, [1]>"
        at += (bytes + 255) // 256 * 256
lines += [f"  %{name} = exec.ref @{name} + 0 : {type}" for name, type in types.items()]
ins = [f"{kind}{i}" for i in range(count) for kind in "wg"]
outs = ins[::2]
print(f"exec.program @train arena {at} {{")
print("\n".join(lines))
print(f"  exec.launch @sgd batch {count} ({', '.join('%' + n for n in ins)}) outs({', '.join('%' + n for n in outs)})")
print(f"      : {', '.join(types[n] for n in ins)} -> {', '.join(types[n] for n in outs)}\n}}")
