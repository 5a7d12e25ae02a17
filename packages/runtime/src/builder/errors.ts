import { defineErrors } from '@gyropilot/foundation'

/** What people who write controllers can meet besides a server's Status and a missing answer. */
export const controllerErrors = defineErrors({
  CONTROLLER_INVALID: {
    exitCode: 1,
    meaning: 'A controller was built from parts that do not make one.',
    remedy:
      'Give it For(), or Named() with Watches(), each once, a name of its own, and numbers for its limits.',
  },
  CACHE_SYNC_FAILED: {
    exitCode: 1,
    meaning: 'A cache was not filled in time: objects of a kind could not be listed and watched.',
    remedy: 'Check that the kind is served (CRD installed) and that list and watch are allowed.',
  },
  CACHE_READ_REFUSED: {
    exitCode: 1,
    meaning: 'A read asked the cache for something that only the API server can answer.',
    remedy: 'Start the cache first, register the index, or read with the live client.',
  },
  KIND_NOT_SERVED: {
    exitCode: 1,
    meaning: 'A read asked the cache for a kind that the API server does not have.',
    remedy: 'Install its definition; the next read asks the server again.',
  },
  OWNER_INVALID: {
    exitCode: 1,
    meaning: 'An owner reference cannot be set or removed.',
    remedy: 'Choose an owner in the same namespace that is not a second controller.',
  },
  MUTATION_INVALID: {
    exitCode: 1,
    meaning: 'The function that changes an object also changed its name or namespace.',
    remedy: 'Change everything but metadata.name and metadata.namespace.',
  },
  FINALIZER_REGISTERED: {
    exitCode: 1,
    meaning: 'A finalizer of this name is registered already.',
    remedy: 'Register each finalizer once.',
  },
  APPLY_INVALID: {
    exitCode: 1,
    meaning: 'An object cannot be applied as it is.',
    remedy: 'Name the object and the field owner, and leave out metadata.managedFields.',
  },
  LEADER_ELECTION_INVALID: {
    exitCode: 1,
    meaning: 'Leader election was asked for without what it needs.',
    remedy: 'Give the name and namespace of the lease.',
  },
  LEADER_ELECTION_LOST: {
    exitCode: 1,
    meaning: 'Another process leads now, or the lease could not be renewed in time.',
    remedy: 'End the process; what restarts it will contend again.',
  },
  SHUTDOWN_INCOMPLETE: {
    exitCode: 1,
    meaning: 'Something that the manager runs did not end in the time it had.',
    remedy: 'Let it follow its signal, or give gracefulShutdownTimeoutMs more time.',
  },
  MANAGER_STARTED: {
    exitCode: 1,
    meaning: 'A manager was started twice.',
    remedy: 'Make a new one; a manager that has stopped cannot be started again.',
  },
})
