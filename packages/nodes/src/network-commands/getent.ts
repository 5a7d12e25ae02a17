/** `getent hosts NAME`: addresses as programs of the container would find them, /etc/hosts first. */
import type { Command } from '../shell/process.ts'

/** getent.1, EXIT STATUS. */
const EXIT = { usage: 1, notFound: 2 } as const
const ADDRESS_COLUMNS = 15

export const getent: Command = async ({ args, place, out, err }) => {
  const [database, ...names] = args
  if (!/^(?:a?hosts)$/.test(database ?? '') || names.length === 0) {
    place.onUnknown?.(`getent ${args.join(' ')}`)
    await err('getent: simulated containers know the database hosts\n')
    return EXIT.usage
  }
  for (const name of names) {
    const found = await place.network!.lookup(name)
    if (found.kind === 'elsewhere') place.onUnknown?.(name)
    if (found.kind !== 'found') return EXIT.notFound
    for (const address of found.addresses)
      await out(`${address.padEnd(ADDRESS_COLUMNS)} ${found.name}\n`)
  }
  return 0
}
