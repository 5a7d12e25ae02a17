/** What is wrong with a file is told at the start, and ends it; what is put in its place later may come late or be wrong for a while. */
import { errorText } from '@gyropilot/foundation'
import type { HostEnvironment } from '@gyropilot/foundation'
import { authoritiesProblem, keyPairProblem } from '@gyropilot/foundation/x509'
import { clientErrors } from '../errors.ts'

/** The token in a file; throws for a file that is empty, and with `unreadable` for one that cannot be read. */
export async function firstToken(
  path: string,
  host: Pick<HostEnvironment, 'readTextFile'>,
  unreadable: 'CREDENTIALS_UNREADABLE' | 'IN_CLUSTER_UNAVAILABLE' = 'CREDENTIALS_UNREADABLE',
): Promise<string> {
  let token: string
  try {
    token = await host.readTextFile(path)
  } catch (error) {
    throw clientErrors.make(unreadable, errorText(error), { cause: error })
  }
  if (token !== '') return token
  throw clientErrors.make(
    'CREDENTIALS_UNREADABLE',
    `read empty token from file ${JSON.stringify(path)}`,
  )
}

/** Throws when there is no certificate to trust in what should hold some: every server would look like a stranger. */
export function refuseUnusable(authoritiesPem: string | undefined): void {
  // An empty file says nothing: the machine's authorities count.
  const problem = authoritiesPem ? authoritiesProblem(authoritiesPem) : undefined
  if (problem !== undefined) throw clientErrors.make('AUTHORITIES_UNUSABLE', problem)
}

/** Throws when certificate and key are no pair. Those in files may be rotated: they are looked at when they are read. */
export function refuseNoPair(certificatePem: string | undefined, keyPem: string | undefined): void {
  if (certificatePem === undefined || keyPem === undefined) return
  const problem = keyPairProblem(certificatePem, keyPem)
  if (problem !== undefined) throw clientErrors.make('CREDENTIALS_UNREADABLE', problem)
}
