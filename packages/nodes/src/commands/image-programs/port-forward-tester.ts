/**
 * `agnhost port-forward-tester`: serves one connection by the numbers in its environment, says how that went, and ends: reads what
 * it expects, then writes chunks.
 */
import type { Process } from '../../shell/process.ts'
import type { Incoming } from '../../shell/network.ts'

const TOO_LITTLE_EXIT_CODE = 2
const WRONG_EXIT_CODE = 3
const GONE_EXIT_CODE = 4

export async function portForwardTester(task: Process): Promise<number> {
  const { environment, place, out } = task
  if (place.accept === undefined) {
    await place.sleep(Infinity)
    return 0
  }
  const connection = await place.accept(Number(environment.get('BIND_PORT')))
  try {
    await out('Accepted client connection\n')
    const expected = environment.get('EXPECTED_CLIENT_DATA') ?? ''
    const got = await readText(connection, expected.length)
    if (got.length < expected.length) {
      await out(
        `Expected to read ${expected.length} bytes from client, but got ${got.length} instead: EOF\n`,
      )
      return TOO_LITTLE_EXIT_CODE
    }
    if (got !== expected) {
      await out(
        `Expected ${JSON.stringify(expected)} from client, but got ${JSON.stringify(got)}\n`,
      )
      return WRONG_EXIT_CODE
    }
    if (expected !== '') await out('Received expected client data\n')
    return await writeChunks(task, connection)
  } finally {
    connection.close()
  }
}

async function writeChunks(
  { environment, place, out }: Process,
  connection: Incoming,
): Promise<number> {
  const number = (name: string): number => Number(environment.get(name) ?? 0)
  const chunk = Buffer.alloc(number('CHUNK_SIZE'), 'x')
  for (let left = number('CHUNKS'); left > 0; left--) {
    if (connection.signal.aborted) {
      await out('Error writing to client: broken pipe\n')
      return GONE_EXIT_CODE
    }
    await connection.output(chunk)
    await place.sleep(number('CHUNK_INTERVAL'))
  }
  await out('Done\n')
  return 0
}

/** Up to so many bytes: fewer when the client has no more to say. */
async function readText({ input }: Incoming, count: number): Promise<string> {
  let text = ''
  if (count === 0) return text
  for await (const chunk of input) {
    text += Buffer.from(chunk).toString('latin1')
    if (text.length >= count) break
  }
  return text.slice(0, count)
}
