/** What a container runs: the command line of its pod, and of its image where that is known. */
import type { Container } from '@gyropilot/api'
import { repositoryName } from './usual-run.ts'

export function isAgnhost({ image = '' }: Container): boolean {
  return repositoryName(image) === 'agnhost'
}

/** Programs of images, by their names. */
const PROGRAMS: Readonly<Record<string, string>> = {
  agnhost: '/agnhost',
  nonewprivs: '/nnp',
  'resource-consumer': '/consumer',
}

/** Empty: the image's own program, of which nothing is known. */
export function programOf(container: Container): readonly string[] {
  const { command, args } = container
  const own = PROGRAMS[repositoryName(container.image ?? '')]
  const entry = command ?? (own === undefined ? [] : [own])
  const more = args ?? (command === undefined && isAgnhost(container) ? ['pause'] : [])
  return [...entry, ...more]
}
