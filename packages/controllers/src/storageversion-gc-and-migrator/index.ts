/**
 * storageversion-garbage-collector-controller and storage-version-migrator-controller.
 * Contract: docs/behaviour/controllers/storageversion-gc-and-migrator.md.
 */
export { storageVersionGarbageCollectorController } from './garbage-collector.ts'
export { storageVersionMigratorController } from './migrator.ts'
