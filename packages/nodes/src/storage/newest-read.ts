/** Reads that are newer than the cache, or as new. Contract: docs/behaviour/simulation/storage.md. */
import { keyOf } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { compareResourceVersions } from '@gyropilot/runtime'

/**
 * The object as the server has it, because `cached` may be from before what was done last. Servers answer reads from the past
 * too: such an answer, or that there is no such object, is an error, for what is still to be done would not be found in it and
 * no event would come again. Of an object that is gone the cache hears soon.
 */
export async function newestRead<T extends KubernetesObject>(
  cached: T,
  read: () => Promise<T>,
): Promise<T> {
  let found: T | undefined
  try {
    found = await read()
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  const [known = '', answered = ''] = [cached, found].map((of) => of?.metadata?.resourceVersion)
  if (found === undefined || compareResourceVersions(answered, known) < 0)
    throw new Error(`${keyOf(cached)}: the server's answer is older than the cache`)
  return found
}
