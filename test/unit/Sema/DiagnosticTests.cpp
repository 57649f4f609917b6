// Every kind of diagnostic of semantic analysis: a program that is wrong in one way, and its valid twin.
#include "SemaTestSupport.h"
#include "llvm/ADT/DenseSet.h"
#include "gtest/gtest.h"

using namespace tilec;
using namespace tilec::test;

namespace {

struct Twin {
  diag::Kind kind;
  /// The wrong program and the line of the message (from 1; 0 for none), then the right one. A text without the word
  /// `kernel` is the body of a `parallel m in tiles(M, 16), n in tiles(N, 8)`, which begins in line 3.
  std::string wrong;
  unsigned line;
  std::string right;
  std::vector<std::pair<std::string, std::string>> defines = {};
};

std::string complete(const std::string &text) {
  if (llvm::StringRef(text).contains("kernel "))
    return text;
  return "kernel k(A: f32[M, N], B: bf16[M, N], I: i32[M, N], U: u64[M], inout H: f32[M, N], out C: f32[M, N], s: f32,"
         " c: i32)\n{ parallel m in tiles(M, 16), n in tiles(N, 8) {\n" +
         text + "\n} }\n";
}

const std::vector<Twin> &getTwins() {
  static const std::vector<Twin> twins = {
      // Names.
      {diag::err_redeclared, "let x = 1\nlet x = 2", 4, "let x = 1\nlet y = 2"},
      {diag::err_redeclares_builtin, "let exp = s", 3, "let e = s"},
      {diag::err_unknown_name, "let x = scale", 3, "let x = s"},
      {diag::err_unknown_axis, "let x: f32[k] = 0", 3, "let x: f32[m] = 0"},
      {diag::err_unknown_axis_in_parallel, "let x = A[m, j]", 3, "let x = A[m, n]"},
      {diag::err_not_an_axis, "let x = sum[s](A[m, n])", 3, "let x = sum[n](A[m, n])"},
      {diag::err_function_foreign_axis, "fn f(x: f32) -> f32 { sum[k](x) }\nkernel k(out C: f32[1]) {}", 1,
       "fn f[k](x: f32[k]) -> f32 { sum[k](x) }\nkernel k(out C: f32[1]) {}"},
      {diag::err_not_a_type, "kernel k<N: index = 4>(A: N[M], out C: f32[M]) {}", 1,
       "kernel k<N: type = f32>(A: N[M], out C: f32[M]) {}"},
      {diag::err_repeated_axis, "let x: f32[m, m] = 0", 3, "let x: f32[m, n] = 0"},
      {diag::err_type_as_value, "let x = f32", 3, "let x = f32(1)"},
      {diag::err_function_as_value, "let x = exp", 3, "let x = exp(s)"},
      {diag::err_tensor_without_subscripts, "let x = A", 3, "let x = A[m, n]"},
      {diag::err_absent_parameter,
       "kernel k<l: bool = false>(A: f32[M], out C: f32[M] if l) { parallel m in tiles(M, 8) {\nC[m] = A[m]\n} }", 2,
       "kernel k<l: bool = true>(A: f32[M], out C: f32[M] if l) { parallel m in tiles(M, 8) {\nC[m] = A[m]\n} }"},
      {diag::err_unknown_attribute, "let x = m.length", 3, "let x = m.size"},
      {diag::err_attribute_of_value, "let x = s.size", 3, "let x = m.size"},
      {diag::err_range_as_value, "let x = m.range", 3, "axis x = m.range"},
      {diag::err_not_assignable, "let x = 1\nx = 2", 4, "var x = 1\nx = 2"},
      {diag::err_modifier_needs_tensor, "var x = 1\natomic x += 2", 4, "var x = 1\nx += 2"},
      {diag::err_subscript_of_value, "let x = A[m, n]\nlet y = x[m]", 4, "let x = A[m, n]\nlet y = x"},
      {diag::err_substitution_in_tensor, "let x = A[m = 1]", 3, "let x = A[1, n]"},
      {diag::err_rank, "let x = A[m]", 3, "let x = A[m, n]"},
      // Types.
      {diag::err_tf32_parameter, "kernel k(A: tf32[M], out C: f32[M]) {}", 1, "kernel k(A: f32[M], out C: f32[M]) {}"},
      {diag::err_scalar_output, "kernel k(A: f32[M], out c: f32) {}", 1, "kernel k(A: f32[M], out c: f32[1]) {}"},
      {diag::err_constant_does_not_fit, "let x: i32 = 5000000000", 3, "let x: i64 = 5000000000"},
      {diag::err_real_beside_integer, "let x = c + 0.5", 3, "let x = f32(c) + 0.5"},
      {diag::err_no_common_type, "let x = s * c", 3, "let x = s * f32(c)"},
      {diag::err_needs_cast, "let x: bf16 = s", 3, "let x: bf16 = bf16(s)"},
      {diag::err_number_as_bool, "let x = bool(c)", 3, "let x = c != 0"},
      {diag::err_expected_integer, "let x = A[s, n]", 3, "let x = A[i32(s), n]"},
      {diag::err_expected_float, "let x = exp(c)", 3, "let x = exp(f32(c))"},
      {diag::err_operand_type, "let x = !c", 3, "let x = !(c == 0)"},
      {diag::err_operand_of_operator, "let x = (c == 0) + 1", 3, "let x = select(c == 0, 1, 0) + 1"},
      {diag::err_float_remainder, "let x = s % 2", 3, "let x = fmod(s, 2)"},
      {diag::err_constant_operation, "let x = 1 << 100000", 3, "let x = 1 << 10"},
      {diag::err_condition_not_bool, "if c { let x = 1 }", 3, "if c != 0 { let x = 1 }"},
      {diag::err_condition_not_scalar, "if A[m, n] > 0 { let x = 1 }", 3, "if s > 0 { let x = 1 }"},
      {diag::err_tuple_here, "let x = (1, 2)", 3, "let x = 1"},
      {diag::err_tuple_size, "let (x, y) = s", 3, "let x = s"},
      // Axes.
      {diag::err_no_operand_has_all_axes, "let x = A[m, 0] * A[0, n]", 3, "let x: f32[m, n] = A[m, 0] * A[0, n]"},
      {diag::err_axis_not_on_left, "var x: f32[m] = 0\nx = A[m, n]", 4, "var x: f32[m] = 0\nx = sum[n](A[m, n])"},
      {diag::err_axis_not_in_operand, "let x = sum[n](A[m, 0])", 3, "let x = sum[n](A[m, n])"},
      {diag::err_bound_not_scalar, "for i in 0..m { let x = 1 }", 3, "for i in 0..m.end { let x = 1 }"},
      {diag::err_unbounded_extent, "axis d = 0..N", 3, "axis d = n.start..n.end"},
      {diag::err_extent_too_large, "axis d = 0..100000000", 3, "axis d = 0..1024"},
      {diag::err_tile_size, "for k in tiles(N, 0) { let x = 1 }", 3, "for k in tiles(N, 1) { let x = 1 }"},
      {diag::err_past_stage,
       "kernel k(out C: f32[M]) {\nlet x = M * 2\nparallel m in tiles(M, 8) {\nC[m] = f32(x)\n} }", 4,
       "kernel k(out C: f32[M]) {\nparallel m in tiles(M, 8) {\nlet x = M * 2\nC[m] = f32(x)\n} }"},
      {diag::err_span_form, "axis d = 8", 3, "axis d = 0..8"},
      {diag::err_parallel_not_top_level, "parallel i in 0..4 { let x = 1 }", 3, "for i in 0..4 { let x = 1 }"},
      {diag::err_statement_in_value, "let x = if c > 0 {\nvar y = 1\ny } else { 2 }", 4,
       "let x = if c > 0 {\nlet y = 1\ny } else { 2 }"},
      {diag::err_statement_in_function, "fn f(x: f32) -> f32 {\nvar y = x\ny }\nkernel k(out C: f32[1]) {}", 2,
       "fn f(x: f32) -> f32 {\nlet y = x\ny }\nkernel k(out C: f32[1]) {}"},
      // Calls.
      {diag::err_not_a_function, "let x = s(1)", 3, "let x = exp(s)"},
      {diag::err_argument_count, "let x = exp(s, s)", 3, "let x = exp(s)"},
      {diag::err_named_argument, "let x = sum[n](A[m, n], fast = true)", 3, "let x = sum[n](A[m, n])"},
      {diag::err_needs_axes, "let x = sum(A[m, n])", 3, "let x = sum[n](A[m, n])"},
      {diag::err_no_axis_form, "let x = exp[n](A[m, n])", 3, "let x = exp(A[m, n])"},
      {diag::err_arrow_not_allowed, "let x = sum[n -> m](A[m, n])", 3, "let x = sum[n](A[m, n])"},
      {diag::err_accumulate_word, "let x: f32[m] = dot[n](B[m, n], B[m, n], accumulate = slow)", 3,
       "let x: f32[m] = dot[n](B[m, n], B[m, n], accumulate = fast)"},
      {diag::err_dot_operand, "let x = dot[n](I[m, n], I[m, n])", 3, "let x = dot[n](f32(I[m, n]), A[m, n])"},
      {diag::err_bitcast_needs_type, "let x = bitcast(s, s)", 3, "let x = bitcast(u32, s)"},
      {diag::err_bitcast_width, "let x = bitcast(u64, s)", 3, "let x = bitcast(u32, s)"},
      {diag::err_function_arguments,
       "fn f(x: f32) -> f32 { x }\nkernel k(A: f32[M], out C: f32[M]) {"
       " parallel m in tiles(M, 8) {\nC[m] = f(A[m], 1)\n} }",
       3,
       "fn f(x: f32) -> f32 { x }\nkernel k(A: f32[M], out C: f32[M]) { parallel m in tiles(M, 8) {\nC[m] ="
       " f(A[m])\n} }"},
      {diag::err_recursive_function, "fn f(x: f32) -> f32 { f(x) }\nkernel k(out C: f32[1]) {}", 1,
       "fn f(x: f32) -> f32 { x }\nkernel k(out C: f32[1]) {}"},
      {diag::err_function_constant, "fn f<N: index>(x: f32) -> f32 { x }\nkernel k(out C: f32[1]) {}", 1,
       "fn f<N: index = 4>(x: f32) -> f32 { x }\nkernel k(out C: f32[1]) {}"},
      {diag::err_type_not_deduced,
       "fn f<T: type>(x: f32) -> f32 { x }\nkernel k(out C: f32[M]) { parallel m in tiles(M, 8) { C[m] = f(1) } }", 1,
       "fn f<T: type>(x: T) -> f32 { x }\nkernel k(out C: f32[M]) { parallel m in tiles(M, 8) { C[m] = f(1.0) } }"},
      {diag::err_result_count, "fn f(x: f32) -> (f32, f32) {\nx }\nkernel k(out C: f32[1]) {}", 2,
       "fn f(x: f32) -> (f32, f32) {\n(x, x) }\nkernel k(out C: f32[1]) {}"},
      // Stores.
      {diag::err_read_of_out, "let x = C[m, n]", 3, "let x = H[m, n]"},
      {diag::err_store_to_input, "A[m, n] = 0", 3, "H[m, n] = 0"},
      {diag::err_atomic_into_out, "atomic C[m, n] += s", 3, "atomic H[m, n] += s"},
      {diag::err_atomic_type, "atomic H[m, n] &= s", 3, "atomic H[m, n] += s"},
      {diag::err_parallel_not_in_store, "C[m, 0] = s", 3, "C[m, n] = s"},
      {diag::err_not_injective, "C[m / 2, n] = s", 3, "unique C[m / 2, n] = s"},
      {diag::err_race, "let x = H[m + 1, n]\nH[m, n] = x", 3, "let x = H[m, n]\nH[m, n] = x"},
      {diag::warn_undecided_race, "let x = H[I[m, n], n]\nH[m, n] = x", 3, "let x = H[m, n]\nH[m, n] = x"},
      {diag::warn_axis_over_other_dimension, "let x = A[n, n]", 3, "let x = A[n, n else 0]"},
      // Constants, instantiation, parameters.
      {diag::err_not_constant, "const N = f32(1) + f32(exp(1))\nkernel k(out C: f32[1]) {}", 1,
       "const N = 1\nkernel k(out C: f32[1]) {}"},
      {diag::err_constant_cycle, "const P = Q\nconst Q = P\nkernel k(out C: f32[1]) {}", 1,
       "const P = Q\nconst Q = 1\nkernel k(out C: f32[1]) {}"},
      {diag::err_constant_without_value, "kernel k<T: type, N: index>(out C: T[N]) {}\ninstantiate k<T = f32> as k32",
       2, "kernel k<T: type, N: index>(out C: T[N]) {}\ninstantiate k<T = f32, N = 4> as k32"},
      {diag::err_unknown_constant, "kernel k<T: type>(out C: T[4]) {}\ninstantiate k<T = f32, N = 4> as k32", 2,
       "kernel k<T: type>(out C: T[4]) {}\ninstantiate k<T = f32> as k32"},
      {diag::err_unknown_kernel, "kernel k<T: type>(out C: T[4]) {}\ninstantiate f<T = f32> as k32", 2,
       "kernel k<T: type>(out C: T[4]) {}\ninstantiate k<T = f32> as k32"},
      {diag::err_define_matches_nothing,
       "kernel k<N: index = 4>(out C: f32[N]) {}",
       0,
       "kernel k<N: index = 4, P: index = 2>(out C: f32[N]) {}",
       {{"P", "8"}}},
      {diag::err_type_expected, "kernel k<T: type = 4>(out C: T[4]) {}", 1, "kernel k<T: type = f32>(out C: T[4]) {}"},
      {diag::err_auto_type, "kernel k<N: f32 = auto>(out C: f32[4]) {}", 1,
       "kernel k<N: index = auto>(out C: f32[4]) {}"},
      {diag::err_dimension_is_parameter, "kernel k(K: f32[B, K], out C: f32[B]) {}", 1,
       "kernel k(K: f32[B, T], out C: f32[B]) {}"},
      {diag::err_dimension_is_scalar, "kernel k(n: i32, out C: f32[n]) {}", 1, "kernel k(n: dim, out C: f32[n]) {}"},
      {diag::err_dimension_is_function, "kernel k(out C: f32[exp]) {}", 1, "kernel k(out C: f32[ex]) {}"},
      {diag::err_dimension_not_alone, "kernel k(out C: f32[N * 2]) {}", 1, "kernel k(out C: f32[N * 2], N: dim) {}"},
      {diag::err_negative_size, "kernel k(out C: f32[-4]) {}", 1, "kernel k(out C: f32[4]) {}"},
      {diag::err_stride_count, "kernel k(out C: f32[M, N] strides [1]) {}", 1,
       "kernel k(out C: f32[M, N] strides [64, 1]) {}"},
      {diag::err_stride_value, "kernel k(out C: f32[M, N] strides [0, 1]) {}", 1,
       "kernel k(C: f32[M, N] strides [0, 1], out Y: f32[1]) {}"},
      // Contracts and variants.
      {diag::err_contract_form, "kernel k(out C: f32[M], s: f32) where s * 2 > s {}", 1,
       "kernel k(out C: f32[M], s: f32) where s > 0.5 {}"},
      {diag::err_contract_never_holds, "kernel k<N: index = 3>(out C: f32[M]) where N % 2 == 0 {}", 1,
       "kernel k<N: index = 4>(out C: f32[M]) where N % 2 == 0 {}"},
      {diag::err_choice_name, "kernel k(out C: f32[M], s: f32) where s in {1, 2} {}", 1,
       "kernel k(out C: f32[M], s: i32) where s in {1, 2} {}"},
      {diag::err_choice_not_constant, "kernel k(out C: f32[M], s: i32) where s in {1, 1.5} {}", 1,
       "kernel k(out C: f32[M], s: i32) where s in {1, 2} {}"},
      {diag::err_repeated_choice, "kernel k(out C: f32[M]) where M in {1, 1} {}", 1,
       "kernel k(out C: f32[M]) where M in {1, 2} {}"},
      {diag::err_too_many_variants,
       "kernel k(out C: f32[M, N]) where M in {1, 2, 3, 4, 5, 6, 7, 8, 9}, N in {1, 2, 3, 4, 5, 6, 7, 8, 9} {}", 1,
       "kernel k(out C: f32[M, N]) where M in {1, 2, 3}, N in {1, 2, 3} {}"},
      // Annotations.
      {diag::err_annotation_form, "kernel k(out C: f32[M]) {\n@warps(0)\nparallel m in tiles(M, 8) { C[m] = 0 } }", 2,
       "kernel k(out C: f32[M]) {\n@warps(4)\nparallel m in tiles(M, 8) { C[m] = 0 } }"},
      {diag::err_annotation_needs_load, "@evict(first)\nlet x = s", 3, "@evict(first)\nlet x = A[m, n]"},
      {diag::err_repeated_annotation,
       "kernel k(out C: f32[M]) {\n@warps(4)\n@warps(8)\nparallel m in tiles(M, 8) { C[m] = 0 } }", 3,
       "kernel k(out C: f32[M]) {\n@warps(4)\nparallel m in tiles(M, 8) { C[m] = 0 } }"},
      {diag::err_narrow_accumulator, "var x: bf16[m] = 0\nx += s", 4, "var x: f32[m] = 0\nx += s"},
      {diag::err_integer_accumulator, "var x = 0\nx += s", 4, "var x: f32 = 0\nx += s"},
      {diag::err_store_conflict, "C[m, n] = 1\nC[m, n + 1] = 2", 4, "C[m, n] = 1\nC[m, n] = 2"},
      {diag::err_store_conflict, "kernel k(out C: f32[M]) { parallel i in 0..9 {\nC[i + 5] = 1\nC[i] = 2 } }", 3,
       "kernel k(out C: f32[M]) { parallel i in 0..5 {\nC[i + 5] = 1\nC[i] = 2 } }"},
      {diag::err_annotation_not_honoured,
       "kernel k(out C: f32[M]) {\n@raster(4)\nparallel m in tiles(M, 8) { C[m] = 0 } }", 2,
       "kernel k(out C: f32[M, N]) {\n@raster(4)\nparallel m in tiles(M, 8), n in 0..N { C[m, n] = 0 } }"},
      {diag::err_annotation_not_honoured,
       "kernel k(out C: f32[M]) {\n@cluster(2, 1)\nparallel m in tiles(M, 8) { C[m] = 0 } }", 2,
       "kernel k(out C: f32[M]) {\n@cluster(2)\nparallel m in tiles(M, 8) { C[m] = 0 } }"},
      {diag::err_annotation_not_honoured,
       "kernel k(out C: f32[M, N]) {\n@cluster(4, 4)\nparallel m in tiles(M, 8), n in 0..N { C[m, n] = 0 } }", 2,
       "kernel k(out C: f32[M, N]) {\n@cluster(4, 2)\nparallel m in tiles(M, 8), n in 0..N { C[m, n] = 0 } }"},
      {diag::err_annotation_form, "kernel k(out C: f32[M]) {\n@cluster(9)\nparallel m in tiles(M, 8) { C[m] = 0 } }", 2,
       "kernel k(out C: f32[M]) {\n@cluster(8)\nparallel m in tiles(M, 8) { C[m] = 0 } }"},
      // Checked, and then refused while they are not built.
      {diag::err_not_built, "kernel k(out C: f32[M]) {\n@persistent\nparallel m in tiles(M, 8) { C[m] = 0 } }", 2,
       "kernel k(out C: f32[M]) { parallel m in tiles(M, 8) { C[m] = 0 } }"},
      {diag::err_not_built,
       "kernel k(out C: f32[M]) {\n@specialize(consumers = 2)\nparallel m in tiles(M, 8) { C[m] = 0 } }", 2,
       "kernel k(out C: f32[M]) { parallel m in tiles(M, 8) { C[m] = 0 } }"},
      {diag::err_not_built, "print(\"here\")", 3, "let x = 1"},
      // The twins of these use parts that are not built yet.
      {diag::err_implicit_axis_without_range, "kernel k(out C: f32[M]) { C[i * 2] = 0 }", 1, ""},
      {diag::err_axis_over_two_dimensions, "kernel k(A: f32[M], B: f32[N], out C: f32[M]) { C[i] = A[i] + B[i] }", 1,
       ""},
      {diag::err_algorithm_let_not_top_level, "let t[i] = A[i, 0]", 3, ""},
      {diag::err_call_statement_form, "assert(c > 0)", 3, ""},
      {diag::err_one_axis, "let x = argmax[m, n](A[m, n])", 3, ""},
      {diag::err_guard_not_allowed, "let x = argmax[n where n > 0](A[m, n])", 3, ""},
      {diag::err_topk_form, "let (x, y) = topk[n](A[m, n])", 3, ""},
      {diag::err_flag_not_constant, "let x = sort[n](A[m, n], descending = c > 0)", 3, ""},
      {diag::err_fold_arguments, "let x = reduce[n](A[m, n])", 3, ""},
      {diag::err_fold_function,
       "fn f(x: f32) -> f32 { x }\nkernel k(A: f32[M, 8], out C: f32[M]) { parallel m in tiles(M, 8) { axis j = "
       "0..8\nC[m] = reduce[j](f, 0, A[m, j])\n} }",
       3, ""},
  };
  return twins;
}

} // namespace

TEST(SemaDiagnostics, WrongProgramsAreReported) {
  for (const Twin &twin : getTwins()) {
    Analysis analysis(complete(twin.wrong), twin.defines);
    const Analysis::Message *message = analysis.find(twin.kind);
    EXPECT_TRUE(message) << getKindInfo(twin.kind).id.str() << "\n" << twin.wrong << "\n" << analysis.all();
    if (!message)
      continue;
    EXPECT_EQ(message->line, twin.line) << twin.wrong << "\n" << analysis.all();
    EXPECT_EQ(analysis.messages.size(), 1u) << twin.wrong << "\n" << analysis.all();
    bool isError = message->severity == Severity::Error;
    EXPECT_EQ(analysis.program == nullptr, isError) << twin.wrong;
    EXPECT_EQ(message->text.find('?'), std::string::npos) << message->text;
  }
}

TEST(SemaDiagnostics, RightTwinsAreAccepted) {
  for (const Twin &twin : getTwins()) {
    if (twin.right.empty())
      continue;
    Analysis analysis(complete(twin.right), twin.defines);
    EXPECT_EQ(analysis.all(), "") << twin.right;
    EXPECT_TRUE(analysis.program) << twin.right;
  }
}

/// Kinds of this component have codes E02xx, E030x to E033x, E07xx and W05xx.
TEST(SemaDiagnostics, EveryKindIsTested) {
  // This one takes a long program: SemaLimits.
  llvm::DenseSet<unsigned> tested = {diag::err_too_many_calls};
  for (const Twin &twin : getTwins())
    tested.insert(twin.kind);
  for (const KindInfo &info : getAllKinds()) {
    llvm::StringRef code = info.code;
    bool isOurs = code.starts_with("E02") || (code.starts_with("E03") && code < "E0340") || code.starts_with("E07") ||
                  code.starts_with("W05");
    if (isOurs)
      EXPECT_TRUE(tested.count(info.kind)) << info.id.str();
  }
}

TEST(SemaDiagnostics, SeveralErrorsInSourceOrderWithoutCascades) {
  Analysis analysis(complete("let x = scale\nlet y = x + 1\nlet z = y * unknown\nC[m, n] = z"));
  ASSERT_EQ(analysis.messages.size(), 2u) << analysis.all();
  EXPECT_EQ(analysis.messages[0].line, 3u);
  EXPECT_EQ(analysis.messages[1].line, 5u);
}

TEST(SemaDiagnostics, NothingIsBoundImplicitlyBelowTheTopLevel) {
  Analysis store("kernel k(A: f32[M], out C: f32[M], n: i32) {\nif n > 0 {\nC[i] = A[i]\n} }");
  EXPECT_TRUE(store.find(diag::err_unknown_name)) << store.all();
  Analysis nest("kernel k(out C: f32[M], n: i32) { if n > 0 { C[0] = 1 } else { parallel i in 0..M { C[i] = 0 } } }");
  EXPECT_TRUE(nest.find(diag::err_parallel_not_top_level)) << nest.all();
}

TEST(SemaDiagnostics, RepairsAreOffered) {
  struct Repair {
    std::string body;
    std::string fix;
  };
  const Repair repairs[] = {
      {"let x: bf16 = s", "{=>bf16(}{=>)}"},
      {"let x = s * c", "{=>f32(}{=>)}"},
      {"let x = sum(A[m, n])", "{=>[n]}"},
      {"let x = dot(A[m, n], f32(B[m, n]))", "{=>[n]}"},
      {"let x = A[n, m]", "{n=>m}{m=>n}"},
      {"let x = s\nx = 1", "{let =>var }"},
      {"let x: float = 1", "{float=>f32}"},
      {"C[m, n] += s", "{out =>inout }"},
      {"let total = s\nlet x = totl", "{totl=>total}"},
      {"var x: f32[m] = 0\nfor j in tiles(N, 8) { x += A[m, j] }", "{=>sum[j](}{=>)}"},
      {"var x: f32[m] = 0\nfor j in tiles(N, 8) { x max= A[m, j] }", "{=>max[j](}{=>)}"},
      {"var x: f32[m] = 0\nx = A[m, n]", ""},
      {"let x = A[n, n]", "{=> else 0}"},
      {"atomic C[m, n] += s", "{out =>inout }"},
      {"axis d = 0..N", "{=>where N <= 256 }"},
  };
  for (const Repair &repair : repairs) {
    Analysis analysis(complete(repair.body));
    ASSERT_FALSE(analysis.messages.empty()) << repair.body;
    EXPECT_EQ(analysis.messages[0].fixed, repair.fix) << analysis.all();
  }
}
