/**
 * `agnhost test-service-account-issuer-discovery`: it proves a token with what the API server publishes of its issuer, as a program
 * of a third party would. What is external to the cluster is not asked.
 */
import { createPublicKey, verify } from 'node:crypto'
import type { JsonWebKeyInput } from 'node:crypto'
import { FileError } from '../../files/file-error.ts'
import { absolute } from '../../files/file-tree.ts'
import type { Process } from '../../shell/process.ts'

const FAILED_EXIT_CODE = 1
const DISCOVERY = '/.well-known/openid-configuration'

interface Claims {
  readonly iss?: string
  readonly aud?: string | readonly string[]
  readonly exp?: number
}

export async function discoverIssuer(
  task: Process,
  flags: ReadonlyMap<string, string>,
): Promise<number> {
  const { place, err } = task
  if (place.askServer === undefined) {
    place.onUnknown?.('agnhost test-service-account-issuer-discovery')
    return FAILED_EXIT_CODE
  }
  try {
    const path = absolute(flags.get('token-path') ?? '', task.folder.path)
    const token = Buffer.from(await place.files.read(path))
      .toString()
      .trim()
    await err('OK: Got token\nvalidating with in-cluster discovery\n')
    await prove(task, token, flags.get('audience') ?? '')
    return 0
  } catch (error) {
    if (!(error instanceof Refused || error instanceof FileError)) throw error
    await err(`failed to validate with in-cluster discovery: ${error.message}\n`)
    return FAILED_EXIT_CODE
  }
}

class Refused extends Error {}

async function prove({ place, err }: Process, token: string, audience: string): Promise<void> {
  const [head = '', body = '', signature = ''] = token.split('.')
  const { alg, kid } = decoded<{ alg?: string; kid?: string }>(head)
  const claims = decoded<Claims>(body)
  await err(`OK: got issuer ${claims.iss}\n`)
  const { issuer, jwks_uri: keysAt } = (await place.askServer!(DISCOVERY)) as Record<string, string>
  if (issuer !== claims.iss)
    throw new Refused(`oidc: issuer did not match: expected ${claims.iss}, got ${issuer}`)
  await err(`OK: Constructed OIDC provider for issuer ${issuer}\n`)
  const { keys } = (await place.askServer!(new URL(keysAt ?? '').pathname)) as {
    readonly keys: readonly (JsonWebKeyInput['key'] & { readonly kid?: string })[]
  }
  const jwk = keys.find((key) => key.kid === kid)
  const isProved =
    jwk !== undefined &&
    verify(
      'sha256',
      Buffer.from(`${head}.${body}`),
      {
        key: createPublicKey({ key: jwk, format: 'jwk' }),
        ...(alg === 'ES256' && { dsaEncoding: 'ieee-p1363' }),
      },
      Buffer.from(signature, 'base64url'),
    )
  if (!isProved) throw new Refused('failed to verify signature')
  if (![claims.aud].flat().includes(audience))
    throw new Refused(`oidc: expected audience ${JSON.stringify(audience)}`)
  if ((claims.exp ?? 0) * 1_000 < place.nowMs()) throw new Refused('oidc: token is expired')
  await err('OK: Validated signature on JWT\nOK: Got valid claims from token!\n')
}

function decoded<T>(part: string): T {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as T
  } catch {
    throw new Refused('malformed token')
  }
}
