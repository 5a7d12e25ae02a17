/** What the servers of well-known images serve: files below a folder of theirs. Contract: docs/behaviour/simulation/kubelet.md, Ports. */
import type { Container } from '@gyropilot/api'
import { PICTURE_FILE, pictureOf } from '../behavior/image-facts.ts'
import { isAgnhost, programOf } from '../behavior/image-program.ts'
import { repositoryName } from '../behavior/usual-run.ts'
import { agnhostCall } from '../commands/image-programs/agnhost-command.ts'
import type { FileStore } from '../files/file-store.ts'
import { absolute } from '../files/file-tree.ts'
import type { FileTree } from '../files/file-tree.ts'
import { PLAIN_TEXT, reasonPhrase } from './port-answers.ts'
import type { Page } from './port-answers.ts'

interface WebServer {
  readonly folder: string
  /** That its image has there. */
  readonly own: string
  /** What stands in it. Default: nothing that anybody wants to see. */
  readonly content?: Uint8Array
  /** Of a folder without an index; undefined: what is in it is shown. */
  readonly bareFolder?: 403
}

const INDEX = 'index.html'
const WEB_SERVERS: ReadonlyMap<string, WebServer> = new Map([
  ['httpd', { folder: '/usr/local/apache2/htdocs', own: INDEX }],
  ['nginx', { folder: '/usr/share/nginx/html', own: INDEX, bareFolder: 403 }],
])
/** Serves all files of its container, of which a certificate is one. */
const AGNHOST_SERVER: WebServer = { folder: '', own: 'localhost.crt' }
/** As the image has it: where it is untouched, the page that says which pod answers is worth more. */
const IMAGE_FILE: Uint8Array = Buffer.from('<html><body><h1>It works!</h1></body></html>\n')

/** Undefined: nothing is known of its image, or it was told to run something else. */
function webServerOf(container: Container): WebServer | undefined {
  const { image = '', command } = container
  const content = pictureOf(image)
  if (content !== undefined && command === undefined)
    return { folder: '', own: PICTURE_FILE, content }
  if (isAgnhost(container)) {
    const call = agnhostCall(programOf(container))
    return call?.subcommand === 'test-webserver' ? AGNHOST_SERVER : undefined
  }
  return command === undefined ? WEB_SERVERS.get(repositoryName(image)) : undefined
}

/** The image's own. */
export function addDocuments(store: FileStore, container: Container): void {
  const server = webServerOf(container)
  if (server === undefined) return
  store.set(`${server.folder}/${server.own}`, server.content ?? IMAGE_FILE)
}

/** What is served of the container's files; undefined: the usual page. */
export async function servedPage(
  container: Container,
  path: string,
  files: () => Promise<FileTree>,
): Promise<Page | undefined> {
  const server = webServerOf(container)
  if (server === undefined) return undefined
  const tree = await files()
  const name = absolute(`${server.folder}${pathOf(path)}`, '')
  const file = tree.isFolder(name) ? `${name}/${INDEX}` : name
  if (tree.exists(file) && !tree.isFolder(file)) {
    const body = await tree.read(file)
    return body === IMAGE_FILE ? undefined : { status: 200, type: typeOf(file), body }
  }
  const status = missing(server, container, path)
  if (status === undefined) return undefined
  const text = `${status} ${reasonPhrase(status)}\n`
  return { status, type: PLAIN_TEXT, body: Buffer.from(text) }
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css',
  html: 'text/html',
  js: 'text/javascript',
  json: 'application/json',
  txt: 'text/plain',
}

function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}

/** Whether a path is of what can be taken away. */
export function isOfDocuments(container: Container, path: string | undefined): boolean {
  const server = webServerOf(container)
  return server !== undefined && missing(server, container, path) !== undefined
}

/** What a probe is answered; undefined: nothing is wrong. `root`: the files of the run, if anybody has looked at them. */
export function missingDocument(
  container: Container,
  path: string | undefined,
  root: FileStore | undefined,
): 403 | 404 | undefined {
  const server = webServerOf(container)
  if (server === undefined || root === undefined) return undefined
  if (root.get(`${server.folder}/${server.own}`) !== undefined) return undefined
  return missing(server, container, path)
}

/** Without what the image has. Below a volume and elsewhere nothing is known of what a real image has. */
function missing(
  { folder, own, bareFolder }: WebServer,
  { volumeMounts = [] }: Container,
  path: string | undefined,
): 403 | 404 | undefined {
  if (volumeMounts.some(({ mountPath }) => `${folder}/`.startsWith(`${absolute(mountPath, '')}/`)))
    return undefined
  const asked = pathOf(path)
  if (asked === '') return bareFolder
  return asked === `/${own}` ? 404 : undefined
}

/** Without what is asked of it. */
function pathOf(path = ''): string {
  return absolute(path.replace(/[?#].*$/s, ''), '')
}
