/* A plugin of QEMU's user emulation that counts the instructions of all threads, between two marks.

   A mark is a hint that no processor knows, and that does nothing therefore (machine.rs): one begins to
   count from zero, the other writes the count, a line each, to the file that the argument `out` names.
   What is declared here is what qemu-plugin.h declares, version 1 (QEMU 4.2 and later); Debian does not
   install that file. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
typedef void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*executed)(unsigned, void *);
enum { NO_REGISTERS = 0 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, translated);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, executed, int, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, executed, int, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

/* HINT #90 and HINT #91 */
static const uint32_t ZERO = 0xd503201f + (90 << 5), WRITE = 0xd503201f + (91 << 5);

static _Atomic uint64_t count;
static FILE *out;

static void block(unsigned cpu, void *instructions)
{
    (void)cpu;
    atomic_fetch_add_explicit(&count, (uint64_t)(uintptr_t)instructions, memory_order_relaxed);
}

static void zero(unsigned cpu, void *nothing)
{
    (void)cpu, (void)nothing;
    atomic_store(&count, 0);
}

static void write_count(unsigned cpu, void *nothing)
{
    (void)cpu, (void)nothing;
    fprintf(out, "%llu\n", (unsigned long long)atomic_load(&count));
    fflush(out);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, block, NO_REGISTERS, (void *)(uintptr_t)n);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        uint32_t word;
        if (qemu_plugin_insn_size(instruction) != sizeof word)
            continue;
        memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
        if (word == ZERO)
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, zero, NO_REGISTERS, NULL);
        if (word == WRITE)
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, write_count, NO_REGISTERS, NULL);
    }
}

__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0 || (out = fopen(argv[0] + 4, "w")) == NULL)
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    return 0;
}
