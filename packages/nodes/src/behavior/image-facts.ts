/** What is known of images beside what they run: the user that they name, and files. Contract: docs/behaviour/simulation/kubelet.md, Images. Pure. */
import { repositoryName } from './usual-run.ts'

/** Those that name one: Kubernetes' image for it, and images that are made to run as somebody. */
const USERS: Readonly<Record<string, number>> = { nonroot: 1234, 'nginx-unprivileged': 101 }

/** Whom its containers run as unless they say otherwise; undefined: it is not known to name one. */
export function imageUser(image = ''): number | undefined {
  return USERS[repositoryName(image)]
}

/** What their servers tell which of the two they are by. */
const PICTURES: Readonly<Record<string, string>> = {
  kitten: '{\n  "image": "kitten.jpg"\n}\n',
  nautilus: '{\n  "image": "nautilus.jpg"\n}\n',
}
export const PICTURE_FILE = 'data.json'

/** Undefined: it is none of the two. */
export function pictureOf(image = ''): Uint8Array | undefined {
  const text = PICTURES[repositoryName(image)]
  return text === undefined ? undefined : Buffer.from(text)
}

const ALPINE = /^(?:agnhost|alpine|kitten|nautilus|nonewprivs)$/
const SYSTEMS: Readonly<Record<string, string>> = {
  amazonlinux: 'Amazon Linux',
  centos: 'CentOS Stream',
  debian: 'Debian GNU/Linux',
  fedora: 'Fedora Linux',
  rockylinux: 'Rocky Linux',
  ubuntu: 'Ubuntu',
}

/** /etc/os-release. */
export function systemOf(image = ''): string {
  const name = repositoryName(image)
  if (ALPINE.test(name)) return release('Alpine Linux', 'alpine', 'Alpine Linux')
  const system = SYSTEMS[name]
  return system === undefined
    ? release('Simulated Linux', 'simulated', image)
    : release(system, name, system)
}

const DASH = /^(?:debian|ubuntu)$/

/** Whether its `sh` is known to be dash, which has nothing of bash; others are busybox, or bash by that name. */
export function hasDash(image = ''): boolean {
  return DASH.test(repositoryName(image))
}

function release(name: string, id: string, prettyName: string): string {
  return `NAME="${name}"\nID=${id}\nPRETTY_NAME="${prettyName}"\n`
}
