/** Folders of the manager's own machine, as the rules ask for them. */
import { callOutside } from '@gyropilot/runtime'
import type { Outcome, OutsideCall, Reconcile } from '@gyropilot/runtime'
import type { Binder } from '../binder.ts'
import type { HostFolders } from '../config.ts'

const MAKE = 'makeFolder'
const REMOVE = 'removeFolder'
const DONE: Outcome<unknown> = { ok: true, object: undefined }

export function* makeFolder({ settings }: Binder, path: string): Reconcile<Outcome<unknown>> {
  return settings.hostFolders === undefined ? DONE : yield* callOutside(MAKE, path)
}

export function* removeFolder({ settings }: Binder, path: string): Reconcile<Outcome<unknown>> {
  return settings.hostFolders === undefined ? DONE : yield* callOutside(REMOVE, path)
}

/** Performs what the two ask for. */
export function folderCalls(
  folders: HostFolders | undefined,
): (call: OutsideCall) => Promise<unknown> {
  return async ({ name, arguments: [path] }) =>
    name === MAKE ? folders?.make(String(path)) : folders?.remove(String(path))
}
