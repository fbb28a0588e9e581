// Connects GCC's unwinder, which Debian builds for glibc, with musl in a static program.
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdint.h>

// The unwinder refers to these weakly, which does not link them, and calls them if `pthread_key_create` is there.
void *const linked[] = {
    (void *)pthread_getspecific, (void *)pthread_key_create, (void *)pthread_mutex_lock,
    (void *)pthread_mutex_unlock, (void *)pthread_once, (void *)pthread_setspecific,
};

// Layout of `struct dl_find_object` in glibc's <dlfcn.h>.
struct found {
    unsigned long long flags;
    void *start, *end;
    void *link_map;
    void *eh_frame;
};

struct search {
    uintptr_t address;
    struct found *found;
};

static int look(struct dl_phdr_info *object, size_t size, void *data) {
    struct search *search = data;
    const ElfW(Phdr) *table = 0, *load = 0;
    (void)size;
    for (size_t nth = 0; nth < object->dlpi_phnum; nth++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[nth];
        uintptr_t start = object->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && search->address - start < header->p_memsz) load = header;
        if (header->p_type == PT_GNU_EH_FRAME) table = header;
    }
    if (!load || !table) return 0;
    uintptr_t start = object->dlpi_addr + load->p_vaddr;
    search->found->flags = 0;
    search->found->start = (void *)start;
    search->found->end = (void *)(start + load->p_memsz);
    search->found->link_map = 0;
    search->found->eh_frame = (void *)(object->dlpi_addr + table->p_vaddr);
    return 1;
}

// The unwind table of the loaded object that contains an address; GCC 12 and newer ask glibc for it.
int _dl_find_object(void *address, struct found *found) {
    struct search search = {(uintptr_t)address, found};
    return dl_iterate_phdr(look, &search) ? 0 : -1;
}
