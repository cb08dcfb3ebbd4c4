"""The first and the last lines of dumps in SQL, for samples that no program writes."""

HEAD = b"-- MySQL dump 10.13  Distrib 8.0.40, for Linux (x86_64)\n--\n-- Host: localhost    Database: shop\n"
TAIL = b"\n-- Dump completed on 2026-11-23  2:12:16\n"
SQLITE = b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE a (b);\nCOMMIT;\n"
MODE = b"/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_ZERO' */;\n"
NOTES = (
    MODE + b"/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;\n%s/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;\n"
)
PG_HEAD, PG_TAIL = b"--\n-- PostgreSQL database dump\n--\n\n", b"--\n-- PostgreSQL database dump complete\n--\n\n"
