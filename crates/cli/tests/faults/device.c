/*
 * Stands between the program and libc, and lets chosen calls on chosen files fail for as long as the test asks for it.
 *
 * DEVICE names a file. While it is there, its one line `CALL ERRNO PART` is the wish: every CALL (read, write, fsync,
 * truncate) on a file whose path holds PART fails with ERRNO, or never comes back where that is -1; `PART$` is the end
 * of a path. What becomes of calls on
 * the database that change it is written down beside it, in DEVICE.seen, a line `CALL NAME ERRNO` each.
 *
 * DEVICE_RENAME is an errno: renaming fails with it from the start, and by the kernel's own hand, for the program
 * renames without libc. DEVICE_CLOCK shifts the wall clock by so many seconds.
 *
 * Absent: 32-bit systems, on which the calls have other names.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *device;
static long clock_shift;

static int holds(const char *path, char *part) {
    size_t length = strlen(part), whole = strlen(path);
    if (part[length - 1] != '$') return strstr(path, part) != NULL;
    part[--length] = 0;
    return whole >= length && strcmp(path + whole - length, part) == 0;
}

/* The errno that the test asks for with this call on this file, or 0. */
static int wished(const char *call, const char *path) {
    char line[512], wanted[16], part[256];
    int code;
    int file = open(device, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t length = syscall(SYS_read, file, line, sizeof line - 1);
    close(file);
    if (length <= 0) return 0;
    line[length] = 0;
    if (sscanf(line, "%15s %d %255s", wanted, &code, part) != 3) return 0;
    return strcmp(wanted, call) == 0 && holds(path, part) ? code : 0;
}

static void write_down(const char *call, const char *path, int code) {
    char seen[PATH_MAX + 8], line[PATH_MAX + 64];
    const char *name = strrchr(path, '/');
    if (!name || strncmp(name, "/majordomo.db", 13) != 0) return;
    snprintf(seen, sizeof seen, "%s.seen", device);
    int file = open(seen, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) abort();
    int length = snprintf(line, sizeof line, "%s %s %d\n", call, name + 1, code);
    syscall(SYS_write, file, line, (size_t)length);
    close(file);
}

/* Whether this call fails; errno then says how. */
static int fails(const char *call, int file) {
    char link[64], path[PATH_MAX + 1];
    int before = errno;
    if (!device) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX);
    if (length <= 0) return errno = before, 0;
    path[length] = 0;
    int code = wished(call, path);
    while (code < 0) pause();
    if (strcmp(call, "read") != 0) write_down(call, path, code);
    errno = code ? code : before;
    return code != 0;
}

ssize_t read(int file, void *bytes, size_t length) {
    return fails("read", file) ? -1 : syscall(SYS_read, file, bytes, length);
}

ssize_t pread64(int file, void *bytes, size_t length, off64_t at) {
    return fails("read", file) ? -1 : syscall(SYS_pread64, file, bytes, length, at);
}

ssize_t pread(int file, void *bytes, size_t length, off_t at) {
    return pread64(file, bytes, length, at);
}

ssize_t write(int file, const void *bytes, size_t length) {
    return fails("write", file) ? -1 : syscall(SYS_write, file, bytes, length);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t at) {
    return fails("write", file) ? -1 : syscall(SYS_pwrite64, file, bytes, length, at);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t at) {
    return pwrite64(file, bytes, length, at);
}

int fsync(int file) {
    return fails("fsync", file) ? -1 : (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    return fails("fsync", file) ? -1 : (int)syscall(SYS_fdatasync, file);
}

int ftruncate64(int file, off64_t length) {
    return fails("truncate", file) ? -1 : (int)syscall(SYS_ftruncate, file, length);
}

int ftruncate(int file, off_t length) {
    return ftruncate64(file, length);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += clock_shift;
    return result;
}

static void refuse_to_rename(unsigned code) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) abort();
}

__attribute__((constructor)) static void begin(void) {
    const char *code = getenv("DEVICE_RENAME"), *shift = getenv("DEVICE_CLOCK");
    device = getenv("DEVICE");
    if (shift) clock_shift = atol(shift);
    if (code) refuse_to_rename((unsigned)atoi(code));
}
