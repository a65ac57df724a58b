/* Stands between a process and its disk (LD_PRELOAD): records what is written and synced below a folder, and fails or delays it.

   DISK_ROOT   the folder
   DISK_TRACE  a file that gets each operation: one byte for what it is, then 4 bytes for the length of the path, 8 for the offset
               and 8 for the length of the data (in this machine's order), then path and data
   DISK_FAULT  a file; while it exists its first word says what happens to writes and syncs: "eio", "slow" (100 ms) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;

static int below(const char *path) {
    const char *root = getenv("DISK_ROOT");
    return root && strncmp(path, root, strlen(root)) == 0;
}

static int path_of(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return below(path) && !strstr(path, "-shm");
}

static void record(char what, const char *path, int64_t offset, const void *data, int64_t length) {
    const char *name = getenv("DISK_TRACE");
    if (!name) return;
    pthread_mutex_lock(&lock);
    if (trace < 0) trace = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int32_t size = strlen(path);
    char head[21];
    head[0] = what;
    memcpy(head + 1, &size, 4);
    memcpy(head + 5, &offset, 8);
    memcpy(head + 13, &length, 8);
    struct iovec parts[3] = {{head, 21}, {(void *)path, size}, {(void *)data, data ? length : 0}};
    syscall(SYS_writev, trace, parts, 3);
    pthread_mutex_unlock(&lock);
}

static int fails(void) {
    const char *name = getenv("DISK_FAULT");
    char word[8] = {0};
    int fd = name ? syscall(SYS_openat, AT_FDCWD, name, O_RDONLY) : -1;
    if (fd < 0) return 0;
    syscall(SYS_read, fd, word, 7);
    syscall(SYS_close, fd);
    if (!strncmp(word, "slow", 4)) usleep(100000);
    return !strncmp(word, "eio", 3);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define PATH char path[4096]; int ours = path_of(fd, path, sizeof path)
#define FAULT if (ours && fails()) { errno = EIO; return -1; }

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
    PATH; FAULT
    ssize_t done = NEXT(pwrite64)(fd, data, length, offset);
    if (ours && done > 0) record('w', path, offset, data, done);
    return done;
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return pwrite64(fd, data, length, offset); }

ssize_t write(int fd, const void *data, size_t length) {
    PATH; FAULT
    off64_t offset = ours ? lseek64(fd, 0, SEEK_CUR) : 0;
    struct stat state;
    if (ours && (fcntl(fd, F_GETFL) & O_APPEND) && fstat(fd, &state) == 0) offset = state.st_size;
    ssize_t done = NEXT(write)(fd, data, length);
    if (ours && done > 0) record('w', path, offset, data, done);
    return done;
}

int ftruncate64(int fd, off64_t length) {
    PATH; FAULT
    int done = NEXT(ftruncate64)(fd, length);
    if (ours && done == 0) record('t', path, length, NULL, 0);
    return done;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int fsync(int fd) {
    PATH; FAULT
    int done = NEXT(fsync)(fd);
    if (ours && done == 0) record('s', path, 0, NULL, 0);
    return done;
}
int fdatasync(int fd) {
    PATH; FAULT
    int done = NEXT(fdatasync)(fd);
    if (ours && done == 0) record('s', path, 0, NULL, 0);
    return done;
}

static void created(int fd, int flags) {
    if (fd >= 0 && (flags & O_CREAT)) {
        PATH;
        if (ours) record('c', path, 0, NULL, 0);
    }
}
int open64(const char *name, int flags, ...) {
    __builtin_va_list more;
    __builtin_va_start(more, flags);
    int mode = __builtin_va_arg(more, int);
    __builtin_va_end(more);
    int fd = syscall(SYS_openat, AT_FDCWD, name, flags, mode);
    created(fd, flags);
    return fd;
}
int open(const char *name, int flags, ...) {
    __builtin_va_list more;
    __builtin_va_start(more, flags);
    int mode = __builtin_va_arg(more, int);
    __builtin_va_end(more);
    return open64(name, flags, mode);
}
int unlink(const char *name) {
    int done = NEXT(unlink)(name);
    if (done == 0 && below(name)) record('u', name, 0, NULL, 0);
    return done;
}
