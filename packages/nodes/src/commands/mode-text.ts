/** `rw-r--r--` */
export function permissionText(mode: number): string {
  return [...'rwxrwxrwx'].map((letter, at) => (mode & (0o400 >> at) ? letter : '-')).join('')
}
