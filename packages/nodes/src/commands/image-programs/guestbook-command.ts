/** `agnhost guestbook --replicaof HOST`: it makes itself known to its primary, and takes over what that holds. */
import { askByHttp } from '../../network-commands/ask-by-http.ts'
import type { Process } from '../../shell/process.ts'

const MOST_MS = 15_000
const RETRY_MS = 1_000
const FAILED_EXIT_CODE = 1

/** Undefined: it serves now; else the exit code of one that gave up. */
export async function joinPrimary(
  { place, err }: Process,
  flags: ReadonlyMap<string, string>,
): Promise<number | undefined> {
  const primary = flags.get('replicaof') ?? ''
  const { network, guestbook } = place
  if (primary === '' || network === undefined || guestbook === undefined) return undefined
  const port = Number(flags.get('backend-port') ?? 6379)
  const path = `/register?host=${await ownAddress(place)}`
  for (const untilMs = place.nowMs() + MOST_MS; place.nowMs() < untilMs;) {
    const { text, problem } = await askByHttp(network, primary, port, path)
    const values = problem === undefined ? valuesIn(text) : undefined
    if (values !== undefined) {
      for (const [key, value] of values) guestbook.values.set(key, value)
      await err(`Registered to node: ${primary}\n`)
      return undefined
    }
    const why = problem ?? 'it answers something else'
    await err(`encountered error while registering to primary: ${why}. Retrying in 1s.\n`)
    await place.sleep(RETRY_MS)
  }
  await err('Timed out while registering to primary.\n')
  return FAILED_EXIT_CODE
}

/** Undefined: whoever answered is no guestbook. */
function valuesIn(text: string): readonly (readonly [string, string])[] | undefined {
  try {
    const { data } = JSON.parse(text) as { readonly data?: Readonly<Record<string, string>> }
    return data && Object.entries(data)
  } catch {
    return undefined
  }
}

/** As its own name leads to it. */
async function ownAddress({ files, hostname }: Process['place']): Promise<string> {
  const lines = Buffer.from(await files.read('/etc/hosts'))
    .toString()
    .split('\n')
  const own = lines.map((line) => line.split(/\s+/)).find((words) => words.includes(hostname))
  return own?.[0] ?? ''
}
