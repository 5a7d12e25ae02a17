/** What is in an image, as far as anything is known of it: in a container's root, and where the image is mounted as a volume. */
import type { Container } from '@gyropilot/api'
import { addDocuments } from '../answers/web-documents.ts'
import { systemOf } from '../behavior/image-facts.ts'
import { FileStore } from '../files/file-store.ts'

/** What nearly every image has, empty. */
const IMAGE_FOLDERS = [
  '/bin /dev /etc /home /lib /media /mnt /opt /proc /root /run /sbin /srv /tmp',
  '/usr/bin /usr/lib /usr/local/bin /usr/sbin /usr/share',
  '/var/cache /var/lib /var/log /var/run /var/spool /var/tmp',
].flatMap((paths) => paths.split(' '))

export function addImageFiles(store: FileStore, container: Container): void {
  for (const path of IMAGE_FOLDERS) store.makeFolder(path)
  store.set('/etc/os-release', Buffer.from(systemOf(container.image)))
  addDocuments(store, container)
}

/** Of a volume that is an image. */
export function imageVolume(reference = ''): FileStore {
  const store = new FileStore()
  addImageFiles(store, { name: '', image: reference })
  return store
}
