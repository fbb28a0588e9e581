/* The lower bound for a process that appends one line durably: open, lock, write, sync. Used by compare.sh. */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int main(int count, char **arguments) {
    const char *line = "{\"role\":\"user\",\"content\":\"hello\",\"id\":\"msg_0123456789abcdef\"}\n";
    if (count < 2) return 2;
    int file = open(arguments[1], O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (file < 0 || flock(file, LOCK_EX) < 0) return 1;
    if (write(file, line, strlen(line)) < 0 || fdatasync(file) < 0) return 1;
    return 0;
}
