// Files that esbuild puts into the bundle as text.

declare module "*.law" {
  const text: string;
  export default text;
}
declare module "*.css" {
  const text: string;
  export default text;
}
